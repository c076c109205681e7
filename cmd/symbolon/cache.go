package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
)

func cacheCommand() *command {
	return &command{
		name:  "cache",
		short: "Look at the disk cache, or empty it",
		subs:  []*command{cacheStatCommand(), cacheListCommand(), cachePurgeCommand()},
	}
}

// runCache asks the operator of conf and prints what it says.
func runCache(ctx context.Context, e *env, conf *configFlags, q cacheQuery) error {
	if q.Kind != "" && !slices.Contains(cache.Kinds(), cache.Kind(q.Kind)) {
		return &usageError{text: fmt.Sprintf("unknown --kind %q; there are %v", q.Kind, cache.Kinds())}
	}
	op, err := conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.close()
	return op.cache(ctx, q, e.stdout)
}

// addChoice adds the flags that choose entries.
func (q *cacheQuery) addChoice(fs *flag.FlagSet) {
	fs.StringVar(&q.Kind, "kind", "", "only entries of `KIND`: objects, meta, symcache or cficache")
	fs.BoolVar(&q.Faults, "faults", false, "only remembered faults")
}

func cacheStatCommand() *command {
	var conf configFlags
	q := cacheQuery{Verb: "stat"}
	return &command{
		name: "stat", short: "Tell how much the cache holds",
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			fs.BoolVar(&q.JSON, "json", false, "print JSON")
		},
		run: func(ctx context.Context, e *env, _ []string) error { return runCache(ctx, e, &conf, q) },
	}
}

func cacheListCommand() *command {
	var conf configFlags
	q := cacheQuery{Verb: "ls"}
	return &command{
		name: "ls", short: "List the entries, unused for longest first",
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			fs.BoolVar(&q.JSON, "json", false, "print one JSON object per line")
			q.addChoice(fs)
		},
		run: func(ctx context.Context, e *env, _ []string) error { return runCache(ctx, e, &conf, q) },
	}
}

func cachePurgeCommand() *command {
	var conf configFlags
	q := cacheQuery{Verb: "purge"}
	return &command{
		name: "purge", short: "Remove entries",
		long: `Nothing is lost that cannot be made again from the sources. With --all
a running server closes its open tables too and looks each module up again;
otherwise it goes on answering from them.`,
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			q.addChoice(fs)
			fs.DurationVar(&q.Older, "older", 0, "only what was not used for `TIME`, as in 36h")
			fs.BoolVar(&q.All, "all", false, "everything")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			if !q.All && q.Kind == "" && q.Older == 0 && !q.Faults {
				return &usageError{text: "say what to remove: --faults, --kind, --older or --all"}
			}
			return runCache(ctx, e, &conf, q)
		},
	}
}

func (n *node) cacheStat(q cacheQuery, w io.Writer) error {
	st := n.store.Stat()
	if q.JSON {
		return json.NewEncoder(w).Encode(st)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, k := range st.Kinds {
		say(t, "%s\t%d\t%s\n", k.Kind, k.Files, bin.Size(k.Bytes))
	}
	say(t, "all\t%d\t%s of %s\n", st.Files, bin.Size(st.Bytes), bin.Size(st.MaxBytes))
	say(t, "in use\t\t%s\n", bin.Size(st.Held))
	say(t, "faults\t%d\t\n", st.Faults)
	return t.Flush()
}

// listed is one line of cache ls.
type listed struct {
	Kind    cache.Kind `json:"kind"`
	Key     string     `json:"key"`
	Size    int64      `json:"size"`
	Used    time.Time  `json:"used"`
	Fault   string     `json:"fault,omitempty"`
	Expires time.Time  `json:"expires,omitzero"`
}

func (n *node) cacheList(ctx context.Context, q cacheQuery, w io.Writer) error {
	enc := json.NewEncoder(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	var failed error
	n.store.List(func(x disk.Entry) bool {
		if q.Kind != "" && string(x.Kind) != q.Kind || q.Faults && x.Fault == nil {
			return true
		}
		l := listed{Kind: x.Kind, Key: x.Key.String(), Size: x.Size, Used: x.Used.UTC()}
		if x.Fault != nil {
			l.Fault, l.Expires = x.Fault.Error(), cache.Expires(x.Fault).UTC()
		}
		if q.JSON {
			failed = enc.Encode(l)
		} else {
			say(t, "%s\t%s\t%d\t%s\t%s\n", l.Kind, l.Key[:16], l.Size, l.Used.Format(time.RFC3339), printable(l.Fault))
		}
		return failed == nil && ctx.Err() == nil
	})
	if failed != nil || q.JSON {
		return failed
	}
	return t.Flush()
}

func (n *node) cachePurge(q cacheQuery, w io.Writer) error {
	f := disk.Filter{Kind: cache.Kind(q.Kind), Idle: q.Older, Faults: q.Faults}
	if len(n.far.faults) > 0 && q.Faults { // or the other nodes' cache would bring them back
		n.store.List(func(x disk.Entry) bool {
			if x.Fault != nil && (q.Kind == "" || string(x.Kind) == q.Kind) {
				for _, tier := range n.far.faults {
					tier.Forget(context.Background(), x.Kind, x.Key)
				}
			}
			return true
		})
	}
	n.tables.ClearNegatives()
	if q.All {
		n.tables.Clear() // or open tables go on answering
	}
	count, bytes := n.store.Purge(f)
	say(w, "removed %s, %s\n", counted(count, "entry"), bin.Size(bytes))
	return nil
}
