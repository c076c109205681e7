package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/config"
	"symbolon/internal/console"
)

// CacheQuery is a command of symbolon cache.
type CacheQuery struct {
	Verb   string        `json:"verb"` // stat, ls or purge
	JSON   bool          `json:"json"`
	Kind   string        `json:"kind,omitempty"`
	Older  time.Duration `json:"older,omitempty"`
	Faults bool          `json:"faults,omitempty"`
	All    bool          `json:"all,omitempty"`
	Look   console.Look  `json:"look,omitempty"`
}

// Cache runs a command of symbolon cache and writes its output to w.
func (n *Node) Cache(ctx context.Context, q CacheQuery, w io.Writer) error {
	switch q.Verb {
	case "stat":
		return n.cacheStat(q, w)
	case "ls":
		return n.cacheList(ctx, q, w)
	case "purge":
		return n.cachePurge(q, w)
	}
	return fmt.Errorf("unknown cache command %q", q.Verb)
}

func (n *Node) cacheStat(q CacheQuery, w io.Writer) error {
	st := n.store.Stat()
	if q.JSON {
		return json.NewEncoder(w).Encode(st)
	}
	t := console.NewTable(w, q.Look, "KIND", "FILES", "SIZE")
	for _, k := range st.Kinds {
		console.Printf(t, "%s\t%d\t%s\n", k.Kind, k.Files, bin.Size(k.Bytes))
	}
	console.Printf(t, "all\t%d\t%s of %s\n", st.Files, bin.Size(st.Bytes), bin.Size(st.MaxBytes))
	console.Printf(t, "in use\t\t%s\n", bin.Size(st.Held))
	console.Printf(t, "faults\t%d\t\n", st.Faults)
	return t.Flush()
}

// cacheEntry is a line of cache ls.
type cacheEntry struct {
	Kind    cache.Kind `json:"kind"`
	Key     string     `json:"key"`
	Size    int64      `json:"size"`
	Used    time.Time  `json:"used"`
	Fault   string     `json:"fault,omitempty"`
	Expires time.Time  `json:"expires,omitzero"`
}

func (n *Node) cacheList(ctx context.Context, q CacheQuery, w io.Writer) error {
	enc := json.NewEncoder(w)
	t := console.NewTable(w, q.Look, "KIND", "KEY", "SIZE", "LAST USE", "FAULT")
	var failed error
	n.store.List(func(x disk.Entry) bool {
		if q.Kind != "" && string(x.Kind) != q.Kind || q.Faults && x.Fault == nil {
			return true
		}
		l := cacheEntry{Kind: x.Kind, Key: x.Key.String(), Size: x.Size, Used: x.Used.UTC()}
		if x.Fault != nil {
			l.Fault, l.Expires = x.Fault.Error(), cache.Expires(x.Fault).UTC()
		}
		if q.JSON {
			failed = enc.Encode(l)
		} else {
			console.Printf(t, "%s\t%s\t%d\t%s\t%s\n", l.Kind, l.Key[:16], l.Size, l.Used.Format(time.RFC3339), q.Look.Paint(console.Bad, console.Printable(l.Fault)))
		}
		return failed == nil && ctx.Err() == nil
	})
	if failed != nil || q.JSON {
		return failed
	}
	return t.Flush()
}

func (n *Node) cachePurge(q CacheQuery, w io.Writer) error {
	count, bytes := n.purge(q)
	console.Printf(w, "removed %s, %s\n", console.Count(count, "entry"), bin.Size(bytes))
	return nil
}

// purge removes the entries that q selects, and returns their number and their size.
func (n *Node) purge(q CacheQuery) (count, bytes int64) {
	f := disk.Filter{Kind: cache.Kind(q.Kind), Idle: q.Older, Faults: q.Faults}
	if len(n.tiers.faults) > 0 && q.Faults { // otherwise the shared tiers would return them
		n.store.List(func(x disk.Entry) bool {
			if x.Fault != nil && (q.Kind == "" || string(x.Kind) == q.Kind) {
				for _, tier := range n.tiers.faults {
					tier.Forget(context.Background(), x.Kind, x.Key)
				}
			}
			return true
		})
	}
	n.tables.ClearNegatives()
	if q.All {
		n.tables.Clear() // otherwise open tables would still answer
	}
	return n.store.Purge(f)
}

// Cleanup removes the entries of the cache in a data directory that were not used for
// the lifetime of their kind, or with dry only counts them. No server may use it.
func Cleanup(cfg *config.Config, data string, dry bool, w io.Writer, log *slog.Logger) error {
	open := cfg.Cache.Disk
	if dry { // opening removes expired entries
		open.ObjectsIdle, open.MetaIdle, open.SymcacheIdle = -1, -1, -1
	}
	store, err := disk.Open(open, data, time.Now, log)
	if err != nil {
		return err
	}
	limits := cfg.Cache.Disk.Defaults()
	count, bytes := int64(0), int64(0)
	for kind, idle := range map[cache.Kind]time.Duration{
		cache.Objects: limits.ObjectsIdle, cache.Meta: limits.MetaIdle, cache.Symcache: limits.SymcacheIdle,
	} {
		switch {
		case idle < 0:
		case dry:
			store.List(func(x disk.Entry) bool {
				if x.Kind == kind && x.Fault == nil && time.Since(x.Used) >= idle {
					count, bytes = count+1, bytes+x.Size
				}
				return true
			})
		default:
			n, size := store.Purge(disk.Filter{Kind: kind, Idle: idle})
			count, bytes = count+n, bytes+size
		}
	}
	words := "removed"
	if dry {
		words = "would remove"
	}
	console.Printf(w, "%s %s, %s\n", words, console.Count(count, "entry"), console.Count(bytes, "byte"))
	return store.Close()
}
