// Package receive has the common parts of the doors for uploads of debug files: the
// reasons why uploads are refused, their labels, and their archives.
package receive

import (
	"errors"
	"log/slog"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// Status returns the status for a refusal of the store.
func Status(refused *store.Refusal) int {
	if errors.Is(refused, bin.ErrLimit) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// errBusy is answered if the store fails. Clients try again.
var errBusy = api.Refuse(http.StatusServiceUnavailable, "the store does not respond; try again")

// Known returns the answer to an error that the client can act on, nil for other errors.
func Known(err error) *api.Refusal {
	var own *api.Refusal
	var stored *store.Refusal
	var quota *store.QuotaError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &stored):
		return &api.Refusal{Status: Status(stored), Text: stored.Error()}
	case errors.As(err, &quota):
		return &api.Refusal{Status: http.StatusRequestEntityTooLarge, Text: quota.Error()}
	case errors.Is(err, token.ErrUnknown):
		return &api.Refusal{Status: http.StatusUnauthorized, Text: err.Error()}
	case fault.KindOf(err) == fault.NotFound:
		return &api.Refusal{Status: http.StatusNotFound, Text: "there is no such file or upload"}
	}
	return nil
}

// Answer returns the answer to an error, nil if the client has disconnected. Errors that
// are not the fault of the client are logged.
func Answer(r *http.Request, err error, log *slog.Logger) *api.Refusal {
	if known := Known(err); known != nil || r.Context().Err() != nil {
		return known
	}
	log.Error("cannot serve a request for debug files", "request_id", api.RequestID(r.Context()), "error", err)
	if status := api.Status(err); status == http.StatusInsufficientStorage {
		return &api.Refusal{Status: status, Text: api.Full}
	}
	if kind := fault.KindOf(err); kind == fault.Timeout || kind == fault.Transport {
		return errBusy
	}
	return &api.Refusal{Status: http.StatusInternalServerError, Text: "the server failed; its log has the cause"}
}
