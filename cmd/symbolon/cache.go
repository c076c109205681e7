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
		short: "List or purge the disk cache",
		subs:  []*command{cacheStatCommand(), cacheListCommand(), cachePurgeCommand()},
	}
}

// runCache runs a command on the node of conf.
func runCache(ctx context.Context, e *env, conf *configFlags, q node.CacheQuery) error {
	if q.Kind != "" && !slices.Contains(cache.Kinds(), cache.Kind(q.Kind)) {
		return &usageError{text: fmt.Sprintf("invalid --kind %q: must be one of %v", q.Kind, cache.Kinds())}
	}
	op, err := conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.Close()
	return op.Cache(ctx, q, e.stdout)
}

// addChoice adds the flags that select entries.
func addChoice(q *node.CacheQuery, fs *flag.FlagSet) {
	fs.StringVar(&q.Kind, "kind", "", "only entries of `KIND`: objects, meta or symcache")
	fs.BoolVar(&q.Faults, "faults", false, "only remembered faults")
}

func cacheStatCommand() *command {
	var conf configFlags
	q := node.CacheQuery{Verb: "stat"}
	return &command{
		name: "stat", short: "Print the size of the cache",
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
		name: "ls", short: "List the entries, the least recently used first",
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
		long: `All entries can be fetched or built again from the sources. With --all a running
server also closes its open tables and looks each module up again; otherwise it
still answers from them.`,
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			addChoice(&q, fs)
			fs.DurationVar(&q.Older, "older", 0, "only entries that were not used for `TIME`, such as 36h")
			fs.BoolVar(&q.All, "all", false, "everything")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			if !q.All && q.Kind == "" && q.Older == 0 && !q.Faults {
				return &usageError{text: "--faults, --kind, --older or --all is required"}
			}
			return runCache(ctx, e, &conf, q)
		},
	}
}
