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

// command is a command, or a group of them if subs is not empty ("table build"). A
// group has no run.
type command struct {
	name  string
	args  string // the arguments in the usage line; empty: none
	short string // one line
	long  string // the description
	flags func(*flag.FlagSet)
	run   func(ctx context.Context, e *env, args []string) error
	subs  []*command
}

// usageError is the error of a wrong command line. cmd is the command whose usage is
// suggested; nil: that of the running command.
type usageError struct {
	cmd  *command
	text string
}

func (e *usageError) Error() string { return e.text }

// unexpected returns the error of an argument that a command does not take.
func unexpected(c *command, arg string) error {
	return &usageError{c, fmt.Sprintf("unexpected argument %q", arg)}
}

func isHelp(arg string) bool { return arg == "--help" || arg == "-h" || arg == "-help" }

// parse parses the flags in args, which may be anywhere before "--", and returns the
// arguments.
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

// usage prints the usage of a command.
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

// list is the value of a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// say prints for people; see console.Printf.
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
