package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/console"
)

// longFlags returns args with all flags as --NAME or --NAME=VALUE. One dash is accepted
// before long names, and two before letters. An unknown name with one dash is taken as
// a long one if it is similar to one; pflag takes others as letters.
func longFlags(fs *pflag.FlagSet, args []string) []string {
	out := append([]string{}, args...)
	for i := 0; i < len(out) && out[i] != "--"; i++ {
		if len(out[i]) < 2 || out[i][0] != '-' {
			continue
		}
		text := strings.TrimPrefix(out[i][1:], "-")
		name, _, hasValue := strings.Cut(text, "=")
		flag := fs.Lookup(name)
		if len(name) == 1 {
			flag = fs.ShorthandLookup(name)
		}
		if flag != nil {
			out[i] = "--" + flag.Name + text[len(name):]
			if flag.NoOptDefVal == "" && !hasValue {
				i++ // the next argument is the value
			}
		} else if console.Nearest(name, flagNames(fs)) != "" {
			out[i] = "--" + text
		}
	}
	return out
}

func flagNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// mustBe has the end of the message about a value that a flag of a type refuses.
var mustBe = map[string]string{
	"bool": "true or false", "int": "a whole number", "duration": "a duration, such as 36h", "*bin.Size": "a size, such as 8MiB",
}

// FlagError returns the error for people of an error of pflag.
func FlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=") // the value may be a secret
		err = fmt.Errorf("unknown flag -%s", name)
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		near := console.Nearest(name, flagNames(c.Flags()))
		if near != "" {
			near = "--" + near
		}
		err = fmt.Errorf("unknown flag --%s%s", name, console.DidYouMean(near))
	case errors.As(err, &bare):
		err = fmt.Errorf("--%s needs a value", bare.GetFlag().Name)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		reason := "must be " + mustBe[f.Value.Type()]
		if mustBe[f.Value.Type()] == "" {
			reason = invalid.Unwrap().Error()
		}
		err = fmt.Errorf("invalid --%s %q: %s", f.Name, invalid.GetValue(), reason)
	}
	return Usage(err.Error())
}

// NamesOf returns the names of the values from first to last.
func NamesOf[T interface {
	~uint8
	String() string
}](first, last T) (names []string) {
	for v := first; v <= last; v++ {
		names = append(names, v.String())
	}
	return names
}

// A Choice is the value of a flag that is its default or one of some words.
type Choice struct {
	value *string
	Words []string
}

// NewChoice returns a flag that sets value, whose default it has now.
func NewChoice(value *string, words []string) Choice { return Choice{value, words} }

func (c Choice) String() string { return *c.value }

// Type returns the name of the type, for pflag.Value.
func (c Choice) Type() string { return "choice" }

// Set sets the value. Only the default may be another word: the empty one.
func (c Choice) Set(text string) error {
	if !slices.Contains(c.Words, text) && text != *c.value {
		return errors.New("must be " + console.OneOf(c.Words))
	}
	*c.value = text
	return nil
}

var errTime = errors.New("must be a duration of at least 1s, such as 15m or 1d")

// ParseTime parses a duration, which may begin with days.
func ParseTime(text string) (time.Duration, error) {
	days, rest := time.Duration(0), text
	if head, tail, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(head, 10, 16)
		if err != nil {
			return 0, errTime
		}
		days, rest = time.Duration(n)*24*time.Hour, cmp.Or(tail, "0")
	}
	d, err := time.ParseDuration(rest)
	if d += days; err != nil || d < time.Second {
		return 0, errTime
	}
	return d, nil
}
