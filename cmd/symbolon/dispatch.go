package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/console"
)

// commands returns the program with all its commands. Their flags hold the values of
// one run.
func commands(e *env) *cobra.Command {
	root := &cobra.Command{
		Use: "symbolon", Short: "Turn addresses into names",
		TraverseChildren: true, SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	help := helpCommand(e)
	for _, g := range []struct {
		title string
		list  []*cobra.Command
	}{
		{"Servers", []*cobra.Command{serveCommand(e), runCommand(e), configCommand(e), healthcheckCommand(e)}},
		{"Debug files", []*cobra.Command{
			resolveCommand(e), inspectCommand(e), symCommand(e), cfiCommand(e), bundleCommand(e), tableCommand(e), demangleCommand(e),
		}},
		{"Crashes and files", []*cobra.Command{crashCommand(e), filterCommand(e)}},
		{"Modules and the cache", []*cobra.Command{explainCommand(e), prefetchCommand(e), cacheCommand(e), cleanupCommand(e)}},
		{"The symbol server", []*cobra.Command{
			uploadCommand(e), tokenCommand(e), projectCommand(e), missingModulesCommand(e), checkCommand(e),
			gcCommand(e), storeCommand(e),
		}},
		{"Elastic's profiler", []*cobra.Command{
			pushCommand(e), pushSymbolsCommand(e), symbfileCommand(e), fileidCommand(e),
		}},
		{"This program", []*cobra.Command{help, completionCommand(e), versionCommand(e)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.list {
			c.GroupID = g.title
		}
		root.AddCommand(g.list...)
	}
	root.SetHelpCommand(help)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { usage(e.stdout, c) })
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().BoolP("help", "h", false, "print this text")
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	for c := range tree(root) {
		switch {
		case c.HasSubCommands():
			c.RunE = func(c *cobra.Command, args []string) error { return missingCommand(e, c, args) }
		case c.Args == nil:
			c.Args = countArguments
		}
	}
	return root
}

// tree yields c and all commands below it.
func tree(c *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) { walk(c, yield) }
}

func walk(c *cobra.Command, yield func(*cobra.Command) bool) bool {
	return yield(c) && !slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return !walk(sub, yield) })
}

// dispatch runs the command below root that args name, which it returns.
func dispatch(ctx context.Context, root *cobra.Command, args []string) (*cobra.Command, error) {
	if len(args) > 0 {
		switch args[0] {
		case "-h", "-help", "--help":
			args = append([]string{"help"}, args[1:]...)
		case "-version", "--version":
			args = append([]string{"version"}, args[1:]...)
		case cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			for c := range tree(root) {
				completeValues(c)
			}
		}
	}
	c, rest, err := root.Traverse(args)
	if err != nil {
		return root, flagError(root, err)
	}
	c.InitDefaultHelpFlag() // adds the flags of root
	root.SetArgs(append(slices.Clone(args[:len(args)-len(rest)]), longFlags(c.Flags(), rest)...))
	return root.ExecuteContextC(ctx)
}

// missingCommand returns the error of a command line that ends before the name of a
// command below c, or has an unknown one.
func missingCommand(e *env, c *cobra.Command, args []string) error {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	near := ""
	if len(args) > 0 {
		near = console.Nearest(args[0], names)
	}
	switch list := strings.Join(names, ", "); {
	case len(args) > 0 && slices.Contains(names, args[0]):
		return unexpected("--") // which ends the flags, and the search for commands
	case len(args) > 0 && c.HasParent() && near == "":
		return &usageError{fmt.Sprintf("unknown subcommand %q: must be one of %s", args[0], list)}
	case len(args) > 0 && c.HasParent():
		return &usageError{fmt.Sprintf("unknown subcommand %q%s", args[0], console.DidYouMean(near))}
	case len(args) > 0:
		return &usageError{fmt.Sprintf("unknown command %q%s", args[0], console.DidYouMean(near))}
	case c.HasParent():
		return &usageError{"a subcommand is required: " + list}
	}
	usage(e.stderr, c)
	return &usageError{"a command is required"}
}
