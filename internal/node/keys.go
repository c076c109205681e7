package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/keys"
)

// KeyQuery is a command of symbolon key.
type KeyQuery struct {
	Verb  string     `json:"verb"` // add, ls or rm
	JSON  bool       `json:"json"`
	Name  string     `json:"name,omitempty"`
	Right keys.Right `json:"right,omitempty"`
	ID    string     `json:"id,omitempty"`
}

// keyEntry is a line of key ls. The key itself is known only when it is created.
type keyEntry struct {
	ID      string     `json:"id"`
	Name    string     `json:"name,omitempty"`
	Right   keys.Right `json:"right"`
	Created time.Time  `json:"created"`
	Key     string     `json:"key,omitempty"`
}

// Key runs a command of symbolon key and writes its output to w.
func (n *Node) Key(ctx context.Context, q KeyQuery, w io.Writer) error {
	switch q.Verb {
	case "add":
		text, k, err := n.uploads.keys.Create(ctx, q.Name, q.Right)
		if err != nil {
			return err
		}
		if q.JSON {
			return json.NewEncoder(w).Encode(keyEntry{k.ID, k.Name, k.Right, k.Created, text})
		}
		_, err = fmt.Fprintln(w, text)
		return err
	case "rm":
		return n.uploads.keys.Revoke(ctx, q.ID)
	case "ls":
		return n.listKeys(ctx, q, w)
	}
	return fmt.Errorf("unknown key command %q", q.Verb)
}

// RereadKeys reads the keys of uploads, so that those that other nodes added are
// valid at once.
func (n *Node) RereadKeys(ctx context.Context) {
	list, err := n.uploads.keys.List(ctx)
	if err != nil {
		n.log.Error("cannot read the keys of uploads again; the old ones stay in use", "error", err)
		return
	}
	n.log.Info("read the keys of uploads again", "keys", len(list))
}

func (n *Node) listKeys(ctx context.Context, q KeyQuery, w io.Writer) error {
	list, err := n.uploads.keys.List(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, k := range list {
		if !q.JSON {
			console.Printf(t, "%s\t%s\t%s\t%s\n", k.ID, k.Right, k.Created.Format(time.RFC3339), console.Printable(k.Name))
		} else if err := json.NewEncoder(w).Encode(keyEntry{k.ID, k.Name, k.Right, k.Created, ""}); err != nil {
			return err
		}
	}
	return t.Flush()
}
