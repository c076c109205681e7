package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/scratch"
)

// command is one sub-command. Commands with parts ("table build") are commands
// whose subs are not empty; they run none themselves.
type command struct {
	name  string
	args  string // what follows the flags, for the usage line; empty: no arguments are taken
	short string // one line
	long  string // what a person wants to know before using it
	flags func(*flag.FlagSet)
	run   func(ctx context.Context, e *env, args []string) error
	subs  []*command
}

// commands makes all commands anew: their flags hold the values of one run.
func commands() []*command {
	list := []*command{
		serveCommand(), resolveCommand(), inspectCommand(), tableCommand(), symbfileCommand(), fileidCommand(), symCommand(), cfiCommand(), bundleCommand(), demangleCommand(),
		explainCommand(), prefetchCommand(), pushCommand(), pushSymbolsCommand(), keyCommand(), cacheCommand(), configCommand(), versionCommand(),
		runCommand(), cleanupCommand(), healthcheckCommand(),
	}
	return append(list, completionCommand(list))
}

func find(list []*command, name string) *command {
	for _, c := range list {
		if c.name == name {
			return c
		}
	}
	return nil
}

// dispatch finds the command of args, parses its flags and runs it.
func dispatch(ctx context.Context, args []string, e *env) error {
	list := commands()
	if len(args) == 0 {
		overview(e.stderr, list)
		return &usageError{text: "no command given"}
	}
	switch args[0] {
	case "help", "--help", "-h", "-help":
		return help(e.stdout, list, args[1:])
	case "--version", "-version":
		args[0] = "version"
	}
	c := find(list, args[0])
	if c == nil {
		return &usageError{text: fmt.Sprintf("unknown command %q%s", args[0], suggestion(list, args[0]))}
	}
	args = args[1:]
	if len(c.subs) > 0 {
		if len(args) == 0 || strings.HasPrefix(args[0], "-") {
			if len(args) > 0 && isHelp(args[0]) {
				usage(e.stdout, c)
				return nil
			}
			return &usageError{c, "say which: " + strings.Join(names(c.subs), ", ")}
		}
		sub := find(c.subs, args[0])
		if sub == nil {
			return &usageError{c, fmt.Sprintf("unknown part %q; there are: %s", args[0], strings.Join(names(c.subs), ", "))}
		}
		full := *sub
		full.name = c.name + " " + sub.name
		c, args = &full, args[1:]
	}
	rest, err := c.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage(e.stdout, c)
		return nil
	}
	if err != nil {
		return err
	}
	if c.args == "" && len(rest) > 0 {
		return unexpected(c, rest[0])
	}
	err = c.run(ctx, e, rest)
	var u *usageError
	if errors.As(err, &u) && u.cmd == nil {
		u.cmd = c
	}
	return err
}

// unexpected refuses an argument that a command does not take. To ignore it
// would do something else than was meant.
func unexpected(c *command, arg string) error {
	return &usageError{c, fmt.Sprintf("unexpected argument %q", arg)}
}

func isHelp(arg string) bool { return arg == "--help" || arg == "-h" || arg == "-help" }

// parse reads the flags of args, which may stand anywhere before a "--", and
// returns the rest.
func (c *command) parse(args []string) ([]string, error) {
	fs := c.flagSet()
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, &usageError{c, strings.Replace(err.Error(), " -", " --", 1)}
		}
		left := fs.Args()
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		if len(left) == 0 {
			return rest, nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

func (c *command) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if c.flags != nil {
		c.flags(fs)
	}
	return fs
}

func names(list []*command) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

// suggestion names a command that begins like word, if there is one.
func suggestion(list []*command, word string) string {
	for _, c := range list {
		if len(word) > 1 && (strings.HasPrefix(c.name, word[:2]) || strings.HasPrefix(word, c.name)) {
			return fmt.Sprintf(`; did you mean "%s"?`, c.name)
		}
	}
	return `; "symbolon help" lists them`
}

// help prints the overview, or the usage of one command.
func help(w io.Writer, list []*command, args []string) error {
	if len(args) == 0 {
		overview(w, list)
		return nil
	}
	c := find(list, args[0])
	if c == nil {
		return &usageError{text: fmt.Sprintf("no help for %q%s", args[0], suggestion(list, args[0]))}
	}
	args = args[1:]
	if len(args) > 0 {
		if sub := find(c.subs, args[0]); sub != nil {
			full := *sub
			full.name = c.name + " " + sub.name
			c, args = &full, args[1:]
		}
	}
	if len(args) > 0 {
		return unexpected(nil, args[0])
	}
	usage(w, c)
	return nil
}

func overview(w io.Writer, list []*command) {
	say(w, "Symbolon turns addresses into names.\n\nUsage: symbolon <command> [flags] [arguments]\n\n")
	for _, c := range list {
		say(w, "  %-12s %s\n", c.name, c.short)
	}
	say(w, "\n\"symbolon help <command>\" tells more. Results go to stdout, everything else to stderr.\n"+exitCodes+"\n")
}

func usage(w io.Writer, c *command) {
	if len(c.subs) > 0 {
		say(w, "%s.\n\n", c.short)
		for _, s := range c.subs {
			say(w, "  symbolon %s %s %s\n        %s.\n", c.name, s.name, s.args, s.short)
		}
		return
	}
	line := "symbolon " + c.name
	if c.flags != nil {
		line += " [flags]"
	}
	if c.args != "" {
		line += " " + c.args
	}
	say(w, "%s.\n\nUsage: %s\n", c.short, line)
	if c.long != "" {
		say(w, "\n%s\n", c.long)
	}
	first := true
	c.flagSet().VisitAll(func(f *flag.Flag) {
		if first {
			say(w, "\nFlags:\n")
			first = false
		}
		name, text := flag.UnquoteUsage(f)
		if name != "" {
			name = " " + name
		}
		if f.DefValue != "" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		say(w, "  --%s%s\n        %s\n", f.Name, name, text)
	})
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func say(w io.Writer, format string, args ...any) { console.Printf(w, format, args...) }

func counted[N int | int64 | uint64](n N, noun string) string { return console.Count(n, noun) }

func printable(s string) string { return console.Printable(s) }

// writeFile writes the file name, completely or not at all; "-" is stdout.
func writeFile(e *env, name string, fill func(io.Writer) error) error {
	if name == "-" {
		return fill(e.stdout)
	}
	return scratch.WriteFile(name, fill)
}
