package locate

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
)

// forgets are the identifiers whose misses count no longer, and since when. They
// are kept in the cache too, for the time after a restart and for other nodes.
type forgets struct {
	last atomic.Int64 // when something was forgotten last, in nanoseconds
	mu   sync.Mutex
	at   map[string]time.Time
}

// maxForgets is how many identifiers are kept in memory.
const maxForgets = 100_000

// Forget drops what is remembered of files that are missing for modules with
// one of these identifiers: they are looked for again. Files that were found are
// compared with what is there now, or fetched anew where nobody can tell.
func (l *Locator) Forget(ctx context.Context, m ident.Module) error {
	now := l.now()
	for _, id := range ids(m.Derive()) {
		blob, err := l.tier.Put(ctx, cache.Meta, forgetKey(id), func(w io.Writer) error {
			text, err := now.MarshalBinary()
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		})
		if err != nil {
			return err
		}
		_ = blob.Close()
		l.forgets.note(id, now)
	}
	return nil
}

func (f *forgets) note(id string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at == nil || len(f.at) >= maxForgets { // those in the cache still count
		f.at = map[string]time.Time{}
	}
	f.at[id] = later(f.at[id], at)
	f.last.Store(max(f.last.Load(), at.UnixNano()))
}

// Forgotten tells whether what was found out about m at this time was forgotten
// since by this process, or the build id that it lacks was learned.
func (l *Locator) Forgotten(m ident.Module, born time.Time) bool {
	if l.forgets.last.Load() < born.UnixNano() {
		return false
	}
	l.forgets.mu.Lock()
	defer l.forgets.mu.Unlock()
	list := ids(m.Derive())
	if m.LacksBuildID() {
		list = append(list, learnedID(m.DebugID))
	}
	return slices.ContainsFunc(list, func(id string) bool { return !l.forgets.at[id].Before(born) })
}

// forgotten is when what was known of m was forgotten last, by this process or
// another one.
func (l *Locator) forgotten(ctx context.Context, m ident.Module) (last time.Time) {
	l.forgets.mu.Lock()
	for _, id := range ids(m) {
		last = later(last, l.forgets.at[id])
	}
	l.forgets.mu.Unlock()
	for _, id := range ids(m) {
		cache.Every(ctx, l.tier, cache.Meta, forgetKey(id), func(blob cache.Blob) {
			var at time.Time
			if text, err := bin.Read(blob, 0, int(min(blob.Size(), 64))); err == nil && at.UnmarshalBinary(text) == nil {
				last = later(last, at)
			}
		})
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ids are the identifiers of a module.
func ids(m ident.Module) []string {
	var list []string
	if !m.DebugID.IsZero() {
		list = append(list, m.DebugID.Breakpad())
	}
	if !m.CodeID.IsZero() {
		list = append(list, m.CodeID.String())
	}
	if !m.FileID.IsZero() {
		list = append(list, m.FileID.Hex())
	}
	return list
}

func forgetKey(id string) cache.Key { return cache.KeyOf("forgotten", id) }
