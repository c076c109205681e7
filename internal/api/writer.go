package api

import (
	"net/http"
	"time"
)

// writer counts what goes to the client, and gives it new time with every
// piece. It is the only one that touches the http.ResponseWriter.
type writer struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	hold     *hold // nil: it holds nothing
	now      func() time.Time
	status   int // zero until the headers are out
	bytes    int64
}

func newWriter(rw http.ResponseWriter, patience time.Duration, now func() time.Time) *writer {
	return &writer{ResponseWriter: rw, control: http.NewResponseController(rw), patience: patience, now: now}
}

// extend gives the client its time anew. A writer that knows no deadlines
// needs none.
func (w *writer) extend() {
	w.hold.wait(sending, w.now().Add(w.patience), w.control.SetWriteDeadline)
}

func (w *writer) WriteHeader(status int) {
	if status >= 200 && w.status == 0 {
		w.status = status
	}
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.extend()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	w.hold.passed(n)
	return n, err
}
