// Package receive has what the doors for uploads of debug files share: the reasons why
// uploads are refused, their labels, and their archives.
package receive

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// A Refusal is the error that a client gets.
type Refusal struct {
	Status int
	Text   string
}

func (e *Refusal) Error() string { return e.Text }

// Refuse returns a refusal.
func Refuse(status int, format string, args ...any) *Refusal {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Invalid returns the refusal of an invalid request.
func Invalid(format string, args ...any) *Refusal {
	return Refuse(http.StatusBadRequest, format, args...)
}

// Status returns the status for what a store refuses.
func Status(refused *store.Refusal) int {
	if errors.Is(refused, bin.ErrLimit) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// errBusy is answered if the store fails. Clients try again.
var errBusy = Refuse(http.StatusServiceUnavailable, "the store does not respond; try again")

// Known returns what a client gets for an error that it can do something about, nil for
// others.
func Known(err error) *Refusal {
	var own *Refusal
	var body *api.BodyError
	var stored *store.Refusal
	var quota *store.QuotaError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &body):
		return &Refusal{body.Status, body.Title}
	case errors.As(err, &stored):
		return &Refusal{Status(stored), stored.Error()}
	case errors.As(err, &quota):
		return &Refusal{http.StatusRequestEntityTooLarge, quota.Error()}
	case errors.Is(err, token.ErrUnknown):
		return &Refusal{http.StatusUnauthorized, err.Error()}
	case fault.KindOf(err) == fault.NotFound:
		return &Refusal{http.StatusNotFound, "there is no such file or upload"}
	}
	return nil
}

// Answer returns what the client gets for an error, nil if it has left. Errors that are
// not the fault of the client are logged.
func Answer(r *http.Request, err error, log *slog.Logger) *Refusal {
	if known := Known(err); known != nil || r.Context().Err() != nil {
		return known
	}
	log.Error("cannot serve a request for debug files", "request_id", api.RequestID(r.Context()), "error", err)
	if status := api.Status(err); status == http.StatusInsufficientStorage {
		return &Refusal{status, api.Full}
	}
	if kind := fault.KindOf(err); kind == fault.Timeout || kind == fault.Transport {
		return errBusy
	}
	return &Refusal{http.StatusInternalServerError, "the server failed; its log has the cause"}
}
