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

// usageError is a wrong command line, with the command whose usage helps.
type usageError struct {
	cmd  *command
	text string
}

func (e *usageError) Error() string { return e.text }

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
