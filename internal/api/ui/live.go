package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// progress reports how far an action is. The zero value reports nothing. It is safe for
// concurrent use.
type progress struct {
	mu   sync.Mutex
	send func(event string, data any) // nil: the client does not read events
	last time.Time
}

// A step is the data of an event "progress".
type step struct {
	Text  string `json:"text"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // zero: unknown
}

// stepPause is the time between events, which a reader can follow.
const stepPause = 100 * time.Millisecond

// show reports that done of total are done. Most calls between two pauses are dropped.
func (p *progress) show(text string, done, total int64) {
	if p.send == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.last) >= stepPause || done == total {
		p.last = now
		p.send("progress", step{text, done, total})
	}
}

// stream runs an action and sends events until it ends.
func (d *Door) stream(w http.ResponseWriter, v *visit, do action) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // nginx holds answers back
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // the form is read after the first event
	send := func(event string, data any) {
		text, _ := json.Marshal(data) // of texts and numbers
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text)
		_ = control.Flush() // the client may have left
	}
	send("progress", step{Text: "working"})
	p := &progress{send: send}
	out, err := do(v, p)
	p.mu.Lock()
	defer p.mu.Unlock()
	if out.file != nil {
		defer out.file.end()
	}
	switch {
	case v.Context().Err() != nil:
	case err == nil && out.file != nil:
		send("failed", map[string]string{"error": "this action sends a file, and no events"})
	case err != nil:
		_, text := d.explainError(v, err)
		send("failed", map[string]string{"error": text})
	case out.view != nil:
		var html bytes.Buffer
		if err := content(v, *out.view).Render(v.Context(), &html); err != nil {
			return // the client has left
		}
		send("done", map[string]string{"html": html.String(), "title": out.view.title})
	default:
		send("done", map[string]string{"to": v.root + v.next(out)})
	}
}
