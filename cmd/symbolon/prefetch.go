package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
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
	in := e.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	var out []ident.Module
	n := 0
	err := console.EachLine(ctx, in, func(line string) error {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			return nil
		}
		m, err := explain.ParseModule(line)
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		out = append(out, m)
		return nil
	})
	return out, err
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
		bar            = progress{w: io.Discard}
		total          = len(modules)
		reportProgress = func() { bar.show("%d of %s, %d missing", done, counted(total, "module"), missing) }
	)
	if e.tty {
		bar.w = e.stderr
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
				bar.clear()
				say(e.stdout, "%s/%s: %s\n", printable(cmp.Or(m.DebugFile, m.CodeFile)), cmp.Or(m.DebugIDText, m.CodeID.String()), printable(p.Detail))
			}
			bytes += p.Bytes
			reportProgress()
		})
	}
	wg.Wait()
	bar.clear()
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

// progress is a line on a terminal that is rewritten.
type progress struct {
	w    io.Writer
	last int
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	say(p.w, "\r%-*s", p.last, text)
	p.last = len(text)
}

// clear removes the line.
func (p *progress) clear() {
	if p.last > 0 {
		say(p.w, "\r%*s\r", p.last, "")
		p.last = 0
	}
}
