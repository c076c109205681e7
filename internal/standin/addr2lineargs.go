package standin

import (
	"context"
	"errors"
	"strings"

	"symbolon/internal/console"
)

// addr2lineFlags lists the options. Some are accepted without an effect.
var addr2lineFlags = OptionSet{
	Short: "ab:Ce:fhHij:prRsvV",
	long: []longOption{
		{"addresses", 'a', false, false}, {"target", 'b', true, false}, {"demangle", 'C', false, true},
		{"exe", 'e', true, false}, {"functions", 'f', false, false}, {"help", 'h', false, false},
		{"inlines", 'i', false, false}, {"section", 'j', true, false}, {"pretty-print", 'p', false, false},
		{"no-recurse-limit", 'r', false, false}, {"no-recursion-limit", 'r', false, false},
		{"recurse-limit", 'R', false, false}, {"recursion-limit", 'R', false, false},
		{"basenames", 's', false, false}, {"version", 'v', false, false},
	},
}

const addr2lineUsage = `Usage: addr2line [options] [addresses]
Turns addresses into file names and line numbers. Without addresses on the
command line they are read from standard input, one per line.

  -e, --exe=FILE         the file with the debug information (default a.out)
  -f, --functions        print the functions too
  -i, --inlines          print the callers of inlined functions too
  -a, --addresses        print the addresses too
  -p, --pretty-print     print each place on one line
  -s, --basenames        print file names without folders
  -C, --demangle[=STYLE] print readable names
  -j, --section=NAME     addresses are relative to this section
  -b, --target=NAME      accepted, the format is always found out
  -r, -R                 accepted
  -h, --help             print this
  -v, --version          print the version
  @FILE                  read arguments from FILE
`

// gnuStyles lists the styles that -C accepts.
const gnuStyles = " none auto gnu-v3 java gnat dlang rust "

// addr2line runs a command line of addr2line.
func addr2line(ctx context.Context, e *Env, args []string) int {
	o := gnuOptions{program: args[0], path: "a.out"}
	o.open.Stdin = e.Stdin
	rest, err := addr2lineFlags.Parse(expand(args[1:], maxNesting), func(key byte, value string) error {
		switch key {
		case 'h', 'H':
			console.Printf(e.Stdout, "%s", addr2lineUsage)
			return errDone
		case 'v', 'V':
			console.Printf(e.Stdout, "addr2line (Symbolon %s), which prints what GNU addr2line 2.40 prints\n", e.Version)
			return errDone
		}
		return o.set(key, value)
	})
	switch {
	case errors.Is(err, errDone):
		return exitDone
	case err != nil:
		console.Printf(e.Stderr, "%s: %s\n", o.program, console.Printable(err.Error()))
		if _, isUsage := err.(optionError); isUsage {
			console.Printf(e.Stderr, "%s", addr2lineUsage)
		}
		return exitFailed
	}
	o.addrs = rest
	return o.run(ctx, e)
}

// errDone ends the parsing of options after --help and --version.
var errDone = errors.New("done")

// set sets an option.
func (o *gnuOptions) set(key byte, value string) error {
	switch key {
	case 'a':
		o.addresses = true
	case 'b':
		o.target = value
	case 'C':
		o.demangle = value != "none"
		if value != "" && !strings.Contains(gnuStyles, " "+value+" ") {
			return errors.New("unknown demangling style `" + value + "'")
		}
	case 'e':
		o.path = value
	case 'f':
		o.functions = true
	case 'i':
		o.inlines = true
	case 'j':
		o.section = value
	case 'p':
		o.pretty = true
	case 's':
		o.basenames = true
	}
	return nil
}
