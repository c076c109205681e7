package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
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
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
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
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
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
			console.Printf(t, "%s\t%s\t%d\t%s\t%s\n", l.Kind, l.Key[:16], l.Size, l.Used.Format(time.RFC3339), console.Printable(l.Fault))
		}
		return failed == nil && ctx.Err() == nil
	})
	if failed != nil || q.JSON {
		return failed
	}
	return t.Flush()
}

func (n *Node) cachePurge(q CacheQuery, w io.Writer) error {
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
	count, bytes := n.store.Purge(f)
	console.Printf(w, "removed %s, %s\n", console.Count(count, "entry"), bin.Size(bytes))
	return nil
}
