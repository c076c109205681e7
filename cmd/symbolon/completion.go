package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/cli"
	"symbolon/internal/config"
	"symbolon/internal/console"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

func completionCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Short: "Print a completion script for a shell",
		Long: `The scripts complete commands, flags, and values that are one of some words. That
for bash needs the package bash-completion.

  bash:        source <(symbolon completion bash)
  zsh:         source <(symbolon completion zsh)
  fish:        symbolon completion fish | source
  powershell:  symbolon completion powershell | Out-String | Invoke-Expression`,
	}
	root := c.Root
	write := map[string]func() error{
		"bash":       func() error { return root().GenBashCompletionV2(e.stdout, true) },
		"zsh":        func() error { return root().GenZshCompletion(e.stdout) },
		"fish":       func() error { return root().GenFishCompletion(e.stdout, true) },
		"powershell": func() error { return root().GenPowerShellCompletionWithDesc(e.stdout) },
	}
	c.ValidArgs = slices.Sorted(maps.Keys(write))
	c.Use = "completion " + strings.Join(c.ValidArgs, "|")
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return cli.Usage("exactly one shell is required: " + console.OneOf(c.ValidArgs))
		}
		if write[args[0]] == nil {
			return cli.Usage(fmt.Sprintf("invalid shell %q: must be %s", args[0], console.OneOf(c.ValidArgs)))
		}
		return write[args[0]]()
	}
	return c
}

// completeValues makes shells complete the values of the flags and the arguments of c.
// Those of other names than below are not completed. The marks of names in the usage of
// flags are removed.
func completeValues(c *cobra.Command) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddFlagSet(c.Flags())
	flags.AddFlagSet(c.PersistentFlags()) // of the program
	flags.VisitAll(func(f *pflag.Flag) {
		complete := cobra.NoFileCompletions
		var name string
		name, f.Usage = pflag.UnquoteUsage(f) // shells print it
		if v, ok := f.Value.(cli.Choice); ok {
			complete = cobra.FixedCompletions(v.Words, cobra.ShellCompDirectiveNoFileComp)
		} else if known, ok := completions[name]; ok {
			complete = known
		}
		if complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // the flag exists and is new
		}
	})
	if c.ValidArgs == nil && c.ValidArgsFunction == nil && !strings.Contains(c.Use, "FILE") && !strings.Contains(c.Use, "TABLE") {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completions has the completions by the name of a value in the usage of a flag. Those
// of files are nil: shells complete files by themselves.
var completions = map[string]cobra.CompletionFunc{
	"FILE": nil, "DEBUGFILE": nil, "OUT": nil, "SYM": nil, "TABLE": nil, "BUNDLE": nil,
	"DIR":       cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	"ARCH":      cobra.FixedCompletions(cli.NamesOf(ident.ArchUnknown+1, ident.ArchWasm64), cobra.ShellCompDirectiveNoFileComp),
	"KEY=VALUE": completeSetting,
	"SPEC":      completeSource,
}

func completeSetting(*cobra.Command, []string, string) (keys []string, _ cobra.ShellCompDirective) {
	for _, k := range config.Keys(config.Config{}) {
		if k.Env != "" { // not in a list
			keys = append(keys, k.Path+"=")
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeSource completes a preset, a folder, or the layout after either.
func completeSource(_ *cobra.Command, _ []string, word string) (specs []string, _ cobra.ShellCompDirective) {
	if i := strings.LastIndexByte(word, ','); i >= 0 {
		for _, layout := range source.Layouts() {
			specs = append(specs, word[:i]+",layout="+layout)
		}
		return specs, cobra.ShellCompDirectiveNoFileComp
	}
	for _, p := range source.Presets() {
		specs = append(specs, cobra.CompletionWithDesc(p.Name, p.About))
	}
	return specs, cobra.ShellCompDirectiveDefault
}
