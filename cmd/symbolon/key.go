package main

import (
	"context"

	"github.com/spf13/cobra"

	"symbolon/internal/keys"
	"symbolon/internal/node"
)

func keyCommand(e *env) *cobra.Command {
	return group("key", "Create, list and remove the keys of Elastic's interfaces", keyAddCommand(e), keyListCommand(e), keyRemoveCommand(e))
}

func runKey(ctx context.Context, e *env, conf *configFlags, q node.KeyQuery) error {
	op, err := conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.Close()
	return op.Key(ctx, q, e.stdout)
}

func keyAddCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.KeyQuery{Verb: "add"}
	isRead := false
	c := &cobra.Command{
		Use: "add", Short: "Create a key and print it",
		Long: `Clients send the key as it is printed, for example with symbolon push --api-key.
Only a hash is stored, so it cannot be printed again.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Right = keys.Upload; isRead {
				q.Right = keys.Read
			}
			return runKey(c.Context(), e, &conf, q)
		},
	}
	fs := c.Flags()
	conf.addBase(fs)
	fs.StringVar(&q.Name, "name", "", "the purpose of the key, a `TEXT` for people")
	fs.BoolVar(&isRead, "read", false, "a key that allows reading and no uploads; once one exists, reading needs a key")
	fs.BoolVar(&q.JSON, "json", false, "print JSON")
	return c
}

func keyListCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.KeyQuery{Verb: "ls"}
	c := &cobra.Command{
		Use: "ls", Short: "List the keys",
		Long: "Keys in the configuration are not listed.",
		RunE: func(c *cobra.Command, _ []string) error {
			return runKey(c.Context(), e, &conf, q)
		},
	}
	fs := c.Flags()
	conf.addBase(fs)
	fs.BoolVar(&q.JSON, "json", false, "print one JSON object per line")
	return c
}

func keyRemoveCommand(e *env) *cobra.Command {
	var conf configFlags
	c := &cobra.Command{
		Use: "rm ID", Short: "Remove a key by its id, which \"key ls\" prints",
		RunE: func(c *cobra.Command, args []string) error {
			return runKey(c.Context(), e, &conf, node.KeyQuery{Verb: "rm", ID: args[0]})
		},
	}
	conf.addBase(c.Flags())
	return c
}
