package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/token"
)

// A FailFunc writes an error in the form of a route. The title is a short text for
// people.
type FailFunc func(w http.ResponseWriter, r *http.Request, status int, title string)

// Fail writes {"title": title}. Without a title it is the status with its name.
func Fail(w http.ResponseWriter, _ *http.Request, status int, title string) {
	WriteJSON(w, status, struct {
		Title string `json:"title"`
	}{titleOf(status, title)})
}

// FailError writes {"error": title}, for routes whose clients expect that. Without
// a title it is the status with its name.
func FailError(w http.ResponseWriter, _ *http.Request, status int, title string) {
	WriteJSON(w, status, struct {
		Error string `json:"error"`
	}{titleOf(status, title)})
}

// FailBare writes only the status, for routes whose clients do not read a body.
// They do not expect OPTIONS among the methods either.
func FailBare(w http.ResponseWriter, _ *http.Request, status int, _ string) {
	if allow := w.Header().Get("Allow"); allow != "" {
		w.Header().Set("Allow", strings.TrimSuffix(allow, ", OPTIONS"))
	}
	w.WriteHeader(status)
}

// titleOf returns the title of an error, which may quote the path.
func titleOf(status int, title string) string {
	return cmp.Or(hide(title), strconv.Itoa(status)+" "+http.StatusText(status))
}

// WriteJSON writes v as the whole answer. It is for small answers. It panics if
// encoding/json cannot encode v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // browsers do not take it for HTML: see nosniff
	if err := enc.Encode(v); err != nil {
		panic("api: encode an answer: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.TrimSuffix(body.Bytes(), []byte("\n"))) // the client may have left
}

// Full is the text for StatusInsufficientStorage.
const Full = "a disk of the server is full: its operator must free some space, for example by symbolon gc run; then try again"

// Status returns the status code for an error of Access, or for a fault of a
// source or of this server. If the client sent the malformed bytes, the door answers
// 400 itself.
func Status(err error) int {
	if errors.Is(err, token.ErrUnknown) || errors.Is(err, errNoToken) {
		return http.StatusUnauthorized
	}
	if bucket.IsFull(err) {
		return http.StatusInsufficientStorage
	}
	if errors.Is(err, context.Canceled) { // the server ends
		return http.StatusServiceUnavailable
	}
	switch fault.KindOf(err) {
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Denied:
		return http.StatusForbidden
	case fault.Timeout:
		return http.StatusGatewayTimeout
	case fault.Transport, fault.Malformed, fault.Unsupported:
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}
