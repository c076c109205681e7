package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/console"
	"symbolon/internal/scratch"
)

// usageError is the error of a wrong command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// unexpected returns the error of an argument that a command does not take.
func unexpected(arg string) error {
	return &usageError{fmt.Sprintf("unexpected argument %q", arg)}
}

// countArguments checks that c has the arguments that its usage line names. A command
// with other arguments than NAME, NAME... or several names has a check of its own.
func countArguments(c *cobra.Command, args []string) error {
	names := strings.Fields(c.Use)[1:]
	list := strings.Join(names, " and ")
	name, isMany := strings.CutSuffix(list, "...")
	switch {
	case strings.ContainsAny(list, "[|"), len(args) == len(names), isMany && len(args) > 0:
		return nil
	case isMany:
		return &usageError{"at least one " + name + " is required"}
	case len(names) == 0:
		return unexpected(args[0])
	case len(names) == 1:
		return &usageError{"exactly one " + name + " is required"}
	}
	return &usageError{list + " are required"}
}

// group returns a command that is the first word of others.
func group(name, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short}
	c.AddCommand(subs...)
	return c
}

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
