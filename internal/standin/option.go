package standin

import (
	"fmt"
	"strings"
)

// A longOption is an option with a name, the same as one with a letter.
type longOption struct {
	name               string
	key                byte
	required, optional bool // value
}

// An OptionSet describes the options of a tool, as getopt_long does.
type OptionSet struct {
	Short string // letters; a colon follows those with a value
	long  []longOption
}

// An optionError is an error of the command line.
type optionError string

func (e optionError) Error() string { return string(e) }

// Parse calls take with the options in args until it returns an error, and returns the
// other arguments. Arguments after "--" are not options.
func (s *OptionSet) Parse(args []string, take func(key byte, value string) error) (rest []string, err error) {
	for err == nil && len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			return append(rest, args...), nil
		case strings.HasPrefix(a, "--") && s.long != nil:
			args, err = s.parseLong(a[2:], args, take)
		case len(a) > 1 && a[0] == '-':
			args, err = s.parseShort(a[1:], args, take)
		default:
			rest = append(rest, a)
		}
	}
	return rest, err
}

// parseShort reads letters. An option with a value ends them: the value is the
// rest of the argument, or the next argument.
func (s *OptionSet) parseShort(letters string, args []string, take func(byte, string) error) ([]string, error) {
	for i := range len(letters) {
		c := letters[i]
		at := strings.IndexByte(s.Short, c)
		if at < 0 || c == ':' {
			return args, optionError(fmt.Sprintf("invalid option -- '%c'", c))
		}
		if !strings.HasPrefix(s.Short[at+1:], ":") {
			if err := take(c, ""); err != nil {
				return args, err
			}
			continue
		}
		value := letters[i+1:]
		if value == "" {
			if len(args) == 0 {
				return args, optionError(fmt.Sprintf("option requires an argument -- '%c'", c))
			}
			value, args = args[0], args[1:]
		}
		return args, take(c, value)
	}
	return args, nil
}

// parseLong reads a name, which may be abbreviated as long as it is unambiguous,
// and its value.
func (s *OptionSet) parseLong(text string, args []string, take func(byte, string) error) ([]string, error) {
	name, value, given := strings.Cut(text, "=")
	o := s.find(name)
	switch {
	case o == nil:
		return args, optionError(fmt.Sprintf("unrecognized option '--%s'", text))
	case given && !o.required && !o.optional:
		return args, optionError(fmt.Sprintf("option '--%s' doesn't allow an argument", o.name))
	case o.required && !given && len(args) == 0:
		return args, optionError(fmt.Sprintf("option '--%s' requires an argument", o.name))
	case o.required && !given:
		value, args = args[0], args[1:]
	}
	return args, take(o.key, value)
}

// find returns the option with a name or its abbreviation, nil if there is none or it is
// ambiguous.
func (s *OptionSet) find(name string) *longOption {
	var found *longOption
	for i := range s.long {
		o := &s.long[i]
		switch {
		case o.name == name:
			return o
		case !strings.HasPrefix(o.name, name):
		case found != nil && found.key != o.key:
			return nil
		default:
			found = o
		}
	}
	return found
}
