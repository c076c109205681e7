package node

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/ident"
)

// tablesTime is the longest wait of FinishTables.
const tablesTime = time.Minute

// FinishTables waits for the tables that are being built, for at most a minute, if they are
// kept for others.
func (n *Node) FinishTables(ctx context.Context) {
	if n.cfg.Cache.Disk.Temporary {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tablesTime)
	defer cancel()
	n.tables.Wait(ctx)
}

// Prefetching fetches the symbols of many modules.
type Prefetching struct {
	Fetch    func(context.Context, ident.Module) (Prefetched, error) // Node.Prefetch
	Parallel int                                                     // modules at a time
	Out      io.Writer                                               // for the missing modules
	Errs     io.Writer                                               // for the summary
	Progress *console.Progress                                       // of modules
}

// Run fetches modules. It prints a line for each missing one, which is an error at the
// end, and a summary.
func (p *Prefetching) Run(ctx context.Context, modules []ident.Module) error {
	var (
		mu            sync.Mutex
		done, missing int
		bytes         int64
		failure       error
		wg            sync.WaitGroup
		slots         = make(chan struct{}, p.Parallel)
		total         = console.Count(len(modules), "module")
	)
	for _, m := range modules {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			x, err := p.Fetch(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			done++
			switch {
			case err != nil:
				failure = err
			case !x.Found:
				missing++
				p.Progress.Clear()
				console.Printf(p.Out, "%s/%s: %s\n", console.Printable(cmp.Or(m.DebugFile, m.CodeFile)),
					cmp.Or(m.DebugIDText, m.CodeID.String()), console.Printable(x.Detail))
			}
			bytes += x.Bytes
			p.Progress.Set(int64(done), int64(len(modules)))
		})
	}
	wg.Wait()
	p.Progress.Close()
	if failure == nil {
		failure = context.Cause(ctx)
	}
	if failure != nil {
		return failure
	}
	console.Printf(p.Errs, "%s in the cache, %d missing, %s fetched\n", console.Count(done-missing, "module"), missing, console.Count(bytes, "byte"))
	if missing > 0 {
		return fmt.Errorf("%d of %s missing", missing, total)
	}
	return nil
}
