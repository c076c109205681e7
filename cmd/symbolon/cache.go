package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/cache"
	"symbolon/internal/cli"
	"symbolon/internal/console"
	"symbolon/internal/node"
)

func cacheCommand(e *env) *cobra.Command {
	return cli.Group("cache", "List or purge the disk cache", cacheStatCommand(e), cacheListCommand(e), cachePurgeCommand(e))
}

// runCache runs a command on the node of conf.
func runCache(ctx context.Context, e *env, conf *configFlags, q node.CacheQuery) error {
	return conf.operate(ctx, e, func(op operator) error {
		q.Look = e.look()
		return op.Cache(ctx, q, e.stdout)
	})
}

// addChoice adds the flags that select entries.
func addChoice(q *node.CacheQuery, fs *pflag.FlagSet) {
	var kinds []string
	for _, k := range cache.Kinds() {
		kinds = append(kinds, string(k))
	}
	fs.Var(cli.NewChoice(&q.Kind, kinds), "kind", "only entries of `KIND`: "+console.OneOf(kinds))
	fs.BoolVar(&q.Faults, "faults", false, "only remembered faults")
}

func cacheStatCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.CacheQuery{Verb: "stat"}
	c := &cobra.Command{
		Use: "stat", Short: "Print the size of the cache",
		RunE: func(c *cobra.Command, _ []string) error { return runCache(c.Context(), e, &conf, q) },
	}
	fs := c.Flags()
	conf.addBase(fs)
	fs.BoolVar(&q.JSON, "json", false, "print JSON")
	return c
}

func cacheListCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.CacheQuery{Verb: "ls"}
	c := &cobra.Command{
		Use: "ls", Short: "List the entries, the least recently used first",
		RunE: func(c *cobra.Command, _ []string) error { return runCache(c.Context(), e, &conf, q) },
	}
	fs := c.Flags()
	conf.addBase(fs)
	fs.BoolVar(&q.JSON, "json", false, "print one JSON object per line")
	addChoice(&q, fs)
	return c
}

func cachePurgeCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.CacheQuery{Verb: "purge"}
	c := &cobra.Command{
		Use: "purge", Short: "Remove entries",
		Long: `All entries can be fetched or built again from the sources. With --all a running
server also closes its open tables and looks each module up again; otherwise it
still answers from them.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if !q.All && q.Kind == "" && q.Older == 0 && !q.Faults {
				return cli.Usage("--faults, --kind, --older or --all is required")
			}
			return runCache(c.Context(), e, &conf, q)
		},
	}
	fs := c.Flags()
	conf.addBase(fs)
	addChoice(&q, fs)
	fs.DurationVar(&q.Older, "older", 0, "only entries that were not used for `TIME`, such as 36h")
	fs.BoolVar(&q.All, "all", false, "everything")
	return c
}
