// Package cli implements the command line: flags with one dash or two, arguments that the
// usage line names, help, manual pages, and errors that suggest the nearest command or
// flag. The program defines the commands.
package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is the error of a wrong command line.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usage returns the error of a wrong command line.
func Usage(text string) error { return &UsageError{text} }

// Unexpected returns the error of an argument that a command does not take.
func Unexpected(arg string) error {
	return Usage(fmt.Sprintf("unexpected argument %q", arg))
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
		return Usage("at least one " + name + " is required")
	case len(names) == 0:
		return Unexpected(args[0])
	case len(names) == 1:
		return Usage("exactly one " + name + " is required")
	}
	return Usage(list + " are required")
}

// Group returns a command that is the first word of others.
func Group(name, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short}
	c.AddCommand(subs...)
	return c
}
