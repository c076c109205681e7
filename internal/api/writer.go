package api

import (
	"net/http"
	"time"
)

// writer counts the bytes that are sent, and sets a new deadline for each piece.
// Only it uses the http.ResponseWriter.
type writer struct {
	http.ResponseWriter
	control   *http.ResponseController
	timeout   time.Duration // of a piece
	served    *served       // nil: before it has a place
	now       func() time.Time
	challenge string // of the route
	status    int    // zero until the headers are sent
	bytes     int64
}

func newWriter(rw http.ResponseWriter, timeout time.Duration, now func() time.Time) *writer {
	return &writer{ResponseWriter: rw, control: http.NewResponseController(rw), timeout: timeout, now: now}
}

// Unwrap returns the writer of net/http, for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// extend sets the deadline of the next piece. A writer without deadlines does not
// need one.
func (w *writer) extend() {
	w.served.wait(sending, w.now().Add(w.timeout), w.control.SetWriteDeadline)
}

// WriteHeader sends the status and the headers. A 401 has a challenge, as RFC 9110
// demands.
func (w *writer) WriteHeader(status int) {
	if status >= 200 && w.status == 0 {
		w.status = status
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", w.challenge)
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
	w.served.count(n)
	return n, err
}
