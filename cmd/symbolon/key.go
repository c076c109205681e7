package main

import (
	"context"
	"flag"

	"symbolon/internal/keys"
	"symbolon/internal/node"
)

func keyCommand() *command {
	return &command{
		name:  "key",
		short: "Create, list and remove the keys of Elastic's interfaces",
		subs:  []*command{keyAddCommand(), keyListCommand(), keyRemoveCommand()},
	}
}

func runKey(ctx context.Context, e *env, conf *configFlags, q node.KeyQuery) error {
	op, err := conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.Close()
	return op.Key(ctx, q, e.stdout)
}

func keyAddCommand() *command {
	var conf configFlags
	q := node.KeyQuery{Verb: "add"}
	isRead := false
	return &command{
		name: "add", short: "Create a key and print it",
		long: `Clients send the key as it is printed, for example with symbolon push --api-key.
Only a hash is stored, so it cannot be printed again.`,
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			fs.StringVar(&q.Name, "name", "", "the purpose of the key, a `TEXT` for people")
			fs.BoolVar(&isRead, "read", false, "a key that allows reading and no uploads; once one exists, reading needs a key")
			fs.BoolVar(&q.JSON, "json", false, "print JSON")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			if q.Right = keys.Upload; isRead {
				q.Right = keys.Read
			}
			return runKey(ctx, e, &conf, q)
		},
	}
}

func keyListCommand() *command {
	var conf configFlags
	q := node.KeyQuery{Verb: "ls"}
	return &command{
		name: "ls", short: "List the keys",
		long: "Keys in the configuration are not listed.",
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			fs.BoolVar(&q.JSON, "json", false, "print one JSON object per line")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			return runKey(ctx, e, &conf, q)
		},
	}
}

func keyRemoveCommand() *command {
	var conf configFlags
	return &command{
		name: "rm", args: "ID", short: "Remove a key by its id",
		flags: func(fs *flag.FlagSet) { conf.addBase(fs) },
		run: func(ctx context.Context, e *env, args []string) error {
			if len(args) != 1 {
				return &usageError{text: "exactly one ID is required; symbolon key ls lists them"}
			}
			return runKey(ctx, e, &conf, node.KeyQuery{Verb: "rm", ID: args[0]})
		},
	}
}
