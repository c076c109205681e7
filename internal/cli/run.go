package cli

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/console"
)

// Tree yields c and all commands below it.
func Tree(c *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) { walk(c, yield) }
}

func walk(c *cobra.Command, yield func(*cobra.Command) bool) bool {
	return yield(c) && !slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return !walk(sub, yield) })
}

// A Section is a list of commands with a title.
type Section struct {
	Title    string
	Commands []*cobra.Command
}

// New returns the program, with the commands of sections and help as the first command
// of the last one. It prints to the streams that the caller sets.
func New(use, short, version string, sections []Section) *cobra.Command {
	root := &cobra.Command{
		Use: use, Short: short,
		TraverseChildren: true, SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	help := helpCommand(version)
	last := &sections[len(sections)-1]
	last.Commands = append([]*cobra.Command{help}, last.Commands...)
	for _, s := range sections {
		root.AddGroup(&cobra.Group{ID: s.Title, Title: s.Title})
		for _, c := range s.Commands {
			c.GroupID = s.Title
		}
		root.AddCommand(s.Commands...)
	}
	root.SetHelpCommand(help)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { WriteHelp(c.OutOrStdout(), c) })
	root.SetFlagErrorFunc(FlagError)
	root.PersistentFlags().BoolP("help", "h", false, "print this text")
	for c := range Tree(root) {
		switch {
		case c.HasSubCommands():
			c.RunE = missingCommand
		case c.Args == nil:
			c.Args = countArguments
		}
	}
	return root
}

// Run runs the command below root that args name, which it returns. When a shell asks
// for completions, it calls complete for each command first.
func Run(ctx context.Context, root *cobra.Command, args []string, complete func(*cobra.Command)) (*cobra.Command, error) {
	if len(args) > 0 {
		switch args[0] {
		case "-h", "-help", "--help":
			args = append([]string{"help"}, args[1:]...)
		case "-version", "--version":
			args = append([]string{"version"}, args[1:]...)
		case cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			for c := range Tree(root) {
				complete(c)
			}
		}
	}
	c, rest, err := root.Traverse(args)
	switch {
	case err != nil:
		return root, FlagError(root, err)
	case c.HasSubCommands() && len(rest) > 0 && rest[0] != "" && rest[0][0] != '-' && !strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd):
		return c, missingCommand(c, rest) // an unknown command is reported before its flags
	}
	c.InitDefaultHelpFlag() // adds the flags of root
	root.SetArgs(append(slices.Clone(args[:len(args)-len(rest)]), longFlags(c.Flags(), rest)...))
	return root.ExecuteContextC(ctx)
}

// missingCommand returns the error of a command line that ends before the name of a
// command below c, or has an unknown one.
func missingCommand(c *cobra.Command, args []string) error {
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
		return Unexpected("--") // which ends the flags, and the search for commands
	case len(args) > 0 && c.HasParent() && near == "":
		return Usage(fmt.Sprintf("unknown subcommand %q: must be one of %s", args[0], list))
	case len(args) > 0 && c.HasParent():
		return Usage(fmt.Sprintf("unknown subcommand %q%s", args[0], console.DidYouMean(near)))
	case len(args) > 0:
		return Usage(fmt.Sprintf("unknown command %q%s", args[0], console.DidYouMean(near)))
	case c.HasParent():
		return Usage("a subcommand is required: " + list)
	}
	WriteHelp(c.ErrOrStderr(), c)
	return Usage("a command is required")
}
