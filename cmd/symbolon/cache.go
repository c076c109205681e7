package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"symbolon/internal/cache"
	"symbolon/internal/node"
)

func cacheCommand() *command {
	return &command{
		name:  "cache",
		short: "Look at the disk cache, or empty it",
		subs:  []*command{cacheStatCommand(), cacheListCommand(), cachePurgeCommand()},
	}
}

// runCache asks the operator of conf and prints what it says.
func runCache(ctx context.Context, e *env, conf *configFlags, q node.CacheQuery) error {
	if q.Kind != "" && !slices.Contains(cache.Kinds(), cache.Kind(q.Kind)) {
		return &usageError{text: fmt.Sprintf("unknown --kind %q; there are %v", q.Kind, cache.Kinds())}
	}
	op, err := conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.Close()
	return op.Cache(ctx, q, e.stdout)
}

// addChoice adds the flags that choose entries.
func addChoice(q *node.CacheQuery, fs *flag.FlagSet) {
	fs.StringVar(&q.Kind, "kind", "", "only entries of `KIND`: objects, meta or symcache")
	fs.BoolVar(&q.Faults, "faults", false, "only remembered faults")
}

func cacheStatCommand() *command {
	var conf configFlags
	q := node.CacheQuery{Verb: "stat"}
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
	q := node.CacheQuery{Verb: "ls"}
	return &command{
		name: "ls", short: "List the entries, unused for longest first",
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			fs.BoolVar(&q.JSON, "json", false, "print one JSON object per line")
			addChoice(&q, fs)
		},
		run: func(ctx context.Context, e *env, _ []string) error { return runCache(ctx, e, &conf, q) },
	}
}

func cachePurgeCommand() *command {
	var conf configFlags
	q := node.CacheQuery{Verb: "purge"}
	return &command{
		name: "purge", short: "Remove entries",
		long: `Nothing is lost that cannot be made again from the sources. With --all
a running server closes its open tables too and looks each module up again;
otherwise it goes on answering from them.`,
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			addChoice(&q, fs)
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
