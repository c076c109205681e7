package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// commands returns new commands: their flags hold the values of one run.
func commands() []*command {
	list := []*command{
		serveCommand(), resolveCommand(), inspectCommand(), tableCommand(), symbfileCommand(), fileidCommand(), symCommand(), cfiCommand(),
		bundleCommand(), demangleCommand(),
		explainCommand(), prefetchCommand(), pushCommand(), pushSymbolsCommand(), keyCommand(), cacheCommand(), configCommand(), versionCommand(),
		runCommand(), cleanupCommand(), healthcheckCommand(),
	}
	return append(list, completionCommand(list))
}

// find returns the command of a name, or nil.
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
		return &usageError{text: "a command is required"}
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
			return &usageError{c, "a subcommand is required: " + strings.Join(names(c.subs), ", ")}
		}
		sub := find(c.subs, args[0])
		if sub == nil {
			return &usageError{c, fmt.Sprintf("unknown subcommand %q: must be one of %s", args[0], strings.Join(names(c.subs), ", "))}
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

// suggestion returns a hint with a command that begins like word, or else the way to
// list all commands.
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
		return &usageError{text: fmt.Sprintf("unknown command %q%s", args[0], suggestion(list, args[0]))}
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

// overview prints all commands.
func overview(w io.Writer, list []*command) {
	say(w, "Symbolon turns addresses into names.\n\nUsage: symbolon <command> [flags] [arguments]\n\n")
	for _, c := range list {
		say(w, "  %-12s %s\n", c.name, c.short)
	}
	say(w, "\n\"symbolon help <command>\" prints its flags. Results go to stdout, everything else to stderr.\n"+exitCodes+"\n")
}
