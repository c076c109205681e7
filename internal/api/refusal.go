package api

import (
	"fmt"
	"net/http"
)

// A Refusal is the reason why a request is not served, with the answer for the client.
type Refusal struct {
	Status int
	Text   string
	IsCut  bool // the body is incomplete
	cause  error
}

// Refuse returns a refusal.
func Refuse(status int, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Text: fmt.Sprintf(format, args...)}
}

// Invalid returns the refusal of an invalid request.
func Invalid(format string, args ...any) *Refusal {
	return Refuse(http.StatusBadRequest, format, args...)
}

func (e *Refusal) Error() string { return e.Text }

// Unwrap returns the error of a body that could not be read.
func (e *Refusal) Unwrap() error { return e.cause }
