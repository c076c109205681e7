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
		short: "Make, list and remove the keys of Elastic's interfaces",
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
	read := false
	return &command{
		name: "add", short: "Make a key and print it",
		long: `What is printed is what clients send, as symbolon push --api-key does. Only a hash
of it is kept, so it cannot be printed again.`,
		flags: func(fs *flag.FlagSet) {
			conf.addBase(fs)
			fs.StringVar(&q.Name, "name", "", "what the key is for, as a `TEXT` for people")
			fs.BoolVar(&read, "read", false, "a key that lets read and not upload; when there is one, nobody reads without a key")
			fs.BoolVar(&q.JSON, "json", false, "print JSON")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			if q.Right = keys.Upload; read {
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
		name: "ls", short: "List the keys that were made",
		long: "The keys in the configuration are not among them.",
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
				return &usageError{text: "name the ID of one key; symbolon key ls lists them"}
			}
			return runKey(ctx, e, &conf, node.KeyQuery{Verb: "rm", ID: args[0]})
		},
	}
}
