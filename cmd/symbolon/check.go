package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
)

func checkCommand(e *env) *cobra.Command {
	var conf configFlags
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use: "check", Short: "Check that a build has symbols",
		Long: `A check for build machines: each module of a build must have a file with debug
information or symbols in a source or among the uploads. If a module has none, the
reason is printed, and the exit status is 1.

FILE is JSON, {"modules": [{"debug_file", "debug_id", "code_file", "code_id", "type"}]}
as in requests to Symbolicator, or a list as for "symbolon prefetch"; - is standard
input.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return cli.Usage("--manifest is required")
			}
			var modules []ident.Module
			err := withInput(e, file, func(in io.Reader) (err error) {
				modules, err = explain.ReadManifest(c.Context(), in, file)
				return err
			})
			if err != nil {
				return err
			}
			form := explain.Form{JSON: asJSON, Look: e.look()}
			return conf.operate(c.Context(), e, func(op operator) error {
				bar := e.progress("checking", "module")
				defer bar.Close()
				done := atomic.Int64{}
				lookup := func(ctx context.Context, q explain.Question) (*explain.Trail, error) {
					t, err := op.Explain(ctx, q)
					bar.Set(done.Add(1), int64(len(modules)))
					if done.Load() == int64(len(modules)) {
						bar.Close() // the trails are printed next
					}
					return t, err
				}
				bad, err := explain.Check(c.Context(), lookup, modules, form, e.stdout)
				if err == nil && bad > 0 {
					err = fmt.Errorf("%d of %s without symbols", bad, counted(len(modules), "module"))
				}
				if err == nil {
					say(e.stderr, "%s with symbols\n", counted(len(modules), "module"))
				}
				return err
			})
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.StringVar(&file, "manifest", "", "the `FILE` that lists the modules of the build")
	fs.BoolVar(&asJSON, "json", false, "print the trail of each module as one JSON object per line")
	return c
}
