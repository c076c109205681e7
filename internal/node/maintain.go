package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"symbolon/internal/console"
	"symbolon/internal/store/retain"
)

// MaintainQuery is a command of symbolon gc or symbolon store.
type MaintainQuery struct {
	Verb     string       `json:"verb"` // gc, check or rebuild
	Dry      bool         `json:"dry"`
	JSON     bool         `json:"json"`
	Look     console.Look `json:"look,omitempty"`
	Progress bool         `json:"progress,omitempty"` // see ProgressMark
}

// ProgressMark begins the lines of the output that have the bytes checked so far, if
// the query asks for them.
const ProgressMark = "\r"

// Maintain runs a command on the store of uploads and writes its output to w.
func (n *Node) Maintain(ctx context.Context, q MaintainQuery, w io.Writer) error {
	var report retain.Progress
	if q.Progress {
		report = func(bytes int64) { console.Printf(flushing(w), ProgressMark+"%d\n", bytes) }
	}
	switch q.Verb {
	case "gc":
		r, err := n.uploads.keeper.Collect(ctx, q.Dry)
		if err != nil {
			return err
		}
		if q.JSON {
			return json.NewEncoder(w).Encode(r)
		}
		r.Write(w, q.Look)
		return nil
	case "check":
		return n.uploads.keeper.Check(ctx, flushing(w), report)
	case "rebuild":
		return n.uploads.keeper.Rebuild(ctx, flushing(w), report)
	}
	return fmt.Errorf("unknown store command %q", q.Verb)
}

// flushing returns a writer whose text is seen at once.
func flushing(w io.Writer) io.Writer {
	if f, ok := w.(http.Flusher); ok {
		return &flusher{w, f}
	}
	return w
}

type flusher struct {
	io.Writer
	http.Flusher
}

// Write writes and flushes.
func (f *flusher) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	f.Flush()
	return n, err
}
