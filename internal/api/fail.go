package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"symbolon/internal/fault"
)

// FailFunc writes an error to a client in the words of its route. The title is
// a short text for people.
type FailFunc func(w http.ResponseWriter, r *http.Request, status int, title string)

// Fail writes {"title": title}. An empty title is the status with its name.
func Fail(w http.ResponseWriter, _ *http.Request, status int, title string) {
	WriteJSON(w, status, struct {
		Title string `json:"title"`
	}{titleOf(status, title)})
}

// FailError writes {"error": title}, for the routes whose clients look there.
// An empty title is the status with its name.
func FailError(w http.ResponseWriter, _ *http.Request, status int, title string) {
	WriteJSON(w, status, struct {
		Error string `json:"error"`
	}{titleOf(status, title)})
}

// FailBare writes no body, for the routes of which nobody reads one. Nor do
// their clients count OPTIONS among the methods.
func FailBare(w http.ResponseWriter, _ *http.Request, status int, _ string) {
	if allow := w.Header().Get("Allow"); allow != "" {
		w.Header().Set("Allow", strings.TrimSuffix(allow, ", OPTIONS"))
	}
	w.WriteHeader(status)
}

func titleOf(status int, title string) string {
	if title == "" {
		return strconv.Itoa(status) + " " + http.StatusText(status)
	}
	return title
}

// WriteJSON writes v as the whole answer. It is for small answers; v must be
// something that encoding/json can write.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // no browser takes it for HTML: see nosniff
	if err := enc.Encode(v); err != nil {
		panic("api: answer that is no JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.TrimSuffix(body.Bytes(), []byte("\n"))) // a client that left has no use for the error
}

// Status is the status code of a failure on the way to an answer: nobody has
// it, or what is behind us failed. A door whose client sent the malformed
// bytes itself says 400 of its own accord.
func Status(err error) int {
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
