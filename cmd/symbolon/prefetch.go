package main

import (
	"io"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/node"
)

func prefetchCommand(e *env) *cobra.Command {
	var conf configFlags
	var parallel int
	c := &cobra.Command{
		Use: "prefetch LIST", Short: "Fetch the symbols of modules into the cache",
		Long: `LIST is a file with one module per line, as DEBUGNAME/DEBUGID, or for ELF files as
NAME/BUILDID with a build id of 40 digits; - is standard input. Empty lines and
lines that begin with # are skipped. The exit status is 1 if a module was not
found.`,
		RunE: func(c *cobra.Command, args []string) error {
			if parallel < 1 {
				return cli.Usage("--parallel must be 1 or more")
			}
			var modules []ident.Module
			err := withInput(e, args[0], func(in io.Reader) (err error) {
				modules, err = explain.ReadModules(c.Context(), in, args[0])
				return err
			})
			if err != nil {
				return err
			}
			return conf.operate(c.Context(), e, func(op operator) error {
				p := node.Prefetching{Fetch: op.Prefetch, Parallel: parallel, Out: e.stdout, Errs: e.stderr, Progress: e.progress("fetching", "module")}
				return p.Run(c.Context(), modules)
			})
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.IntVar(&parallel, "parallel", 4, "the number `N` of modules fetched at the same time")
	return c
}
