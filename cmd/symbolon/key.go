package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"symbolon/internal/keys"
)

func keyCommand() *command {
	return &command{
		name:  "key",
		short: "Make, list and remove the keys of Elastic's interfaces",
		subs:  []*command{keyAddCommand(), keyListCommand(), keyRemoveCommand()},
	}
}

// keyQuery is one of the key commands.
type keyQuery struct {
	Verb  string     `json:"verb"` // add, ls or rm
	JSON  bool       `json:"json"`
	Name  string     `json:"name,omitempty"`
	Right keys.Right `json:"right,omitempty"`
	ID    string     `json:"id,omitempty"`
}

func runKey(ctx context.Context, e *env, conf *configFlags, q keyQuery) error {
	op, err := conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.close()
	return op.key(ctx, q, e.stdout)
}

func keyAddCommand() *command {
	var conf configFlags
	q := keyQuery{Verb: "add"}
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
	q := keyQuery{Verb: "ls"}
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
			return runKey(ctx, e, &conf, keyQuery{Verb: "rm", ID: args[0]})
		},
	}
}

// shownKey is a key as it is listed; when it is made, with the key itself.
type shownKey struct {
	ID      string     `json:"id"`
	Name    string     `json:"name,omitempty"`
	Right   keys.Right `json:"right"`
	Created time.Time  `json:"created"`
	Key     string     `json:"key,omitempty"`
}

// key does one of the key commands.
func (n *node) key(ctx context.Context, q keyQuery, w io.Writer) error {
	switch q.Verb {
	case "add":
		text, k, err := n.uploads.keys.Add(ctx, q.Name, q.Right)
		if err != nil {
			return err
		}
		if q.JSON {
			return json.NewEncoder(w).Encode(shownKey{k.ID, k.Name, k.Right, k.Created, text})
		}
		_, err = fmt.Fprintln(w, text)
		return err
	case "rm":
		return n.uploads.keys.Remove(ctx, q.ID)
	case "ls":
		return n.listKeys(ctx, q, w)
	}
	return fmt.Errorf("unknown key command %q", q.Verb)
}

// rereadKeys has the keys that were added count at once, also those of other
// nodes.
func (n *node) rereadKeys(ctx context.Context) {
	list, err := n.uploads.keys.List(ctx)
	if err != nil {
		n.log.Error("cannot read the keys of uploads again; the old ones stay in use", "error", err)
		return
	}
	n.log.Info("read the keys of uploads again", "keys", len(list))
}

func (n *node) listKeys(ctx context.Context, q keyQuery, w io.Writer) error {
	list, err := n.uploads.keys.List(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, k := range list {
		if !q.JSON {
			say(t, "%s\t%s\t%s\t%s\n", k.ID, k.Right, k.Created.Format(time.RFC3339), printable(k.Name))
		} else if err := json.NewEncoder(w).Encode(shownKey{k.ID, k.Name, k.Right, k.Created, ""}); err != nil {
			return err
		}
	}
	return t.Flush()
}
