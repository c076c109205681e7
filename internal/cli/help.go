package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/console"
)

// flagTitles are the titles of the lists of flags. The second is that of configNames.
var flagTitles = []string{"Flags", "Configuration"}

var configNames = []string{"config", "data", "set", "source", "symbolicator-config"}

// ExitCodes are the exit codes of all commands.
const ExitCodes = "Exit status: 0 done, 1 the input or the operation failed, 2 wrong usage, 130 interrupted."

func helpCommand(version string) *cobra.Command {
	var man string
	c := &cobra.Command{
		Use: "help [COMMAND]", Short: "Print the commands, or the flags of a command",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Traverse(args)
			switch {
			case err != nil:
				return FlagError(c, err)
			case len(rest) > 0 && topic.HasSubCommands():
				return missingCommand(topic, rest)
			case len(rest) > 0:
				return Unexpected(rest[0])
			case man != "":
				return writeManual(man, version, topic)
			}
			return topic.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if topic, rest, err := c.Root().Traverse(args); err == nil && len(rest) == 0 {
				for _, sub := range topic.Commands() {
					if !sub.IsAvailableCommand() {
						continue // such as __complete
					}
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&man, "man", "", "write the manual pages of the command, and of those below it, to the folder `DIR`")
	return c
}

// WriteHelp prints the help of a command.
func WriteHelp(w io.Writer, c *cobra.Command) {
	switch {
	case !c.HasParent():
		console.Printf(w, "Symbolon turns addresses into names.\n\nUsage: %s\n", usageLine(c))
		for _, g := range c.Groups() {
			console.Printf(w, "\n%s:\n", g.Title)
			for _, sub := range c.Commands() {
				if sub.GroupID == g.ID {
					console.Printf(w, "  %-12s %s\n", sub.Name(), sub.Short)
				}
			}
		}
		console.Printf(w, "\nThe names of the programs that symbolon replaces, such as addr2line, llvm-symbolizer and minidump-stackwalk, work as commands too.\n")
		console.Printf(w, "\"symbolon help <command>\" prints its flags; --help and --color WHEN are flags of all. Results go to stdout, everything else to stderr.\n"+ExitCodes+"\n")
		return
	case c.HasSubCommands():
		console.Printf(w, "%s.\n\n", c.Short)
		for _, sub := range c.Commands() {
			console.Printf(w, "  %s\n        %s.\n", strings.TrimSpace(c.CommandPath()+" "+sub.Use), sub.Short)
		}
		return
	}
	console.Printf(w, "%s.\n\nUsage: %s\n", c.Short, usageLine(c))
	if c.Long != "" {
		console.Printf(w, "\n%s\n", c.Long)
	}
	for _, title := range flagTitles {
		if list := flagsOf(c, title); list != "" {
			console.Printf(w, "\n%s:\n%s", title, list)
		}
	}
}

// usageLine returns the form of the command lines of c.
func usageLine(c *cobra.Command) string {
	line := c.CommandPath()
	if c.HasSubCommands() {
		return line + " <command> [flags] [arguments]"
	}
	if c.HasAvailableLocalFlags() {
		line += " [flags]"
	}
	return line + strings.TrimPrefix(c.Use, c.Name())
}

// boolForm is added by pflag to the names of flags without a value, and makes them hard
// to read.
const boolForm = "[=true|false]"

// flagsOf describes the flags of c below a title, in 80 columns.
func flagsOf(c *cobra.Command, title string) string {
	list := pflag.NewFlagSet(title, pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(configNames, f.Name) == (title != flagTitles[0]) {
			list.AddFlag(f)
		}
	})
	return strings.ReplaceAll(list.FlagUsagesWrapped(80), boolForm, strings.Repeat(" ", len(boolForm)))
}
