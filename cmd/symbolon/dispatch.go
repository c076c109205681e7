package main

import (
	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/console"
)

// commands returns the program with all its commands. Their flags hold the values of
// one run.
func commands(e *env) *cobra.Command {
	root := cli.New("symbolon", "Turn addresses into names", version(), []cli.Section{
		{Title: "Servers", Commands: []*cobra.Command{serveCommand(e), runCommand(e), configCommand(e), healthcheckCommand(e)}},
		{Title: "Debug files", Commands: []*cobra.Command{
			resolveCommand(e), inspectCommand(e), symCommand(e), cfiCommand(e), bundleCommand(e), tableCommand(e), demangleCommand(e),
		}},
		{Title: "Crashes and files", Commands: []*cobra.Command{crashCommand(e), filterCommand(e), profileCommand(e), batchCommand(e)}},
		{Title: "Modules and the cache", Commands: []*cobra.Command{explainCommand(e), prefetchCommand(e), cacheCommand(e), cleanupCommand(e)}},
		{Title: "The symbol server", Commands: []*cobra.Command{
			uploadCommand(e), tokenCommand(e), projectCommand(e), missingModulesCommand(e), checkCommand(e),
			gcCommand(e), storeCommand(e),
		}},
		{Title: "Elastic's profiler", Commands: []*cobra.Command{
			pushCommand(e), pushSymbolsCommand(e), symbfileCommand(e), fileidCommand(e),
		}},
		{Title: "This program", Commands: []*cobra.Command{completionCommand(e), versionCommand(e)}},
	})
	e.color = console.Colors[0]
	root.PersistentFlags().Var(cli.NewChoice(&e.color, console.Colors), "color", "color text for people `WHEN`: "+console.OneOf(console.Colors))
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	return root
}
