package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"symbolon/internal/console"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
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
				return &usageError{"--parallel must be 1 or more"}
			}
			modules, err := readList(c.Context(), e, args[0])
			if err != nil {
				return err
			}
			op, err := conf.operator(c.Context(), e)
			if err != nil {
				return err
			}
			defer op.Close()
			return prefetchAll(c.Context(), e, op, modules, parallel)
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.IntVar(&parallel, "parallel", 4, "the number `N` of modules fetched at the same time")
	return c
}

// readList reads the modules of a list.
func readList(ctx context.Context, e *env, name string) ([]ident.Module, error) {
	if name == "-" {
		return explain.ReadModules(ctx, e.stdin, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return explain.ReadModules(ctx, f, name)
}

// prefetchAll fetches the modules. It prints a line for each missing one, and a
// summary.
func prefetchAll(ctx context.Context, e *env, op operator, modules []ident.Module, parallel int) error {
	var (
		mu             sync.Mutex
		done, missing  int
		bytes          int64
		failure        error
		wg             sync.WaitGroup
		slots          = make(chan struct{}, parallel)
		bar            = console.Progress{W: io.Discard}
		total          = len(modules)
		reportProgress = func() { bar.Show("%d of %s, %d missing", done, counted(total, "module"), missing) }
	)
	if e.tty {
		bar.W = e.stderr
	}
	for _, m := range modules {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			p, err := op.Prefetch(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			done++
			switch {
			case err != nil:
				failure = err
			case !p.Found:
				missing++
				bar.Clear()
				say(e.stdout, "%s/%s: %s\n", printable(cmp.Or(m.DebugFile, m.CodeFile)), cmp.Or(m.DebugIDText, m.CodeID.String()), printable(p.Detail))
			}
			bytes += p.Bytes
			reportProgress()
		})
	}
	wg.Wait()
	bar.Clear()
	if failure == nil {
		failure = context.Cause(ctx)
	}
	if failure != nil {
		return failure
	}
	say(e.stderr, "%s in the cache, %d missing, %s fetched\n", counted(done-missing, "module"), missing, counted(bytes, "byte"))
	if missing > 0 {
		return fmt.Errorf("%d of %s missing", missing, counted(total, "module"))
	}
	return nil
}
