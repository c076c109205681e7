package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/token"
)

// TokenQuery is a command of symbolon token.
type TokenQuery struct {
	Verb  string       `json:"verb"` // add, ls or rm
	JSON  bool         `json:"json"`
	Token token.Token  `json:"token"`         // to add
	ID    string       `json:"id,omitempty"`  // to remove
	URL   string       `json:"url,omitempty"` // of this server, in the form of Sentry's client; empty: the plain form
	Org   string       `json:"org,omitempty"` // Sentry's organization in that form
	Look  console.Look `json:"look,omitempty"`
}

// tokenEntry is a line of token ls. The token itself is known only when it is created.
type tokenEntry struct {
	token.Grant
	Created time.Time   `json:"created"`
	Expires time.Time   `json:"expires,omitzero"`
	Token   string      `json:"token,omitempty"`
	Key     string      `json:"key,omitempty"` // former name of token
	Right   token.Right `json:"right"`         // the first, of scripts for keys
}

func newTokenEntry(t *token.Token, text string) tokenEntry {
	return tokenEntry{t.Grant, t.Created, t.Expires, text, text, t.Rights[0]}
}

// Token runs a command of symbolon token and writes its output to w.
func (n *Node) Token(ctx context.Context, q TokenQuery, w io.Writer) error {
	switch q.Verb {
	case "add":
		text, t, err := n.uploads.keys.Add(ctx, q.Token)
		if err != nil {
			return err
		}
		if q.URL != "" {
			text = token.ForSentry(text, q.URL, q.Org, t.Created)
		}
		if q.JSON {
			return json.NewEncoder(w).Encode(newTokenEntry(&t, text))
		}
		_, err = fmt.Fprintln(w, text)
		return err
	case "rm":
		return n.uploads.keys.Revoke(ctx, q.ID)
	case "ls":
		return n.listTokens(ctx, q, w)
	}
	return fmt.Errorf("unknown token command %q", q.Verb)
}

// RereadTokens reads the tokens again, so that tokens added by other nodes are valid at
// once.
func (n *Node) RereadTokens(ctx context.Context) {
	list, err := n.uploads.keys.List(ctx)
	if err != nil {
		n.log.Error("cannot read the tokens again; the old ones stay in use", "error", err)
		return
	}
	n.log.Info("read the tokens again", "tokens", len(list))
}

func (n *Node) listTokens(ctx context.Context, q TokenQuery, w io.Writer) error {
	list, err := n.uploads.keys.List(ctx)
	if err != nil {
		return err
	}
	t := console.NewTable(w, q.Look, "ID", "RIGHTS", "PROJECTS", "CREATED", "EXPIRES", "NAME")
	for i := range list {
		k := &list[i]
		if q.JSON {
			if err := json.NewEncoder(w).Encode(newTokenEntry(k, "")); err != nil {
				return err
			}
			continue
		}
		expires := "never"
		if !k.Expires.IsZero() {
			expires = k.Expires.Format(time.RFC3339)
		}
		console.Printf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, joined(k.Rights), joined(k.Projects), k.Created.Format(time.RFC3339), expires,
			cmp.Or(console.Printable(k.Name), "-"))
	}
	return t.Flush()
}

// joined returns a list as one word.
func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return strings.Join(words, ",")
}
