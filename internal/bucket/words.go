package bucket

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// innermost returns the text of the root of an error, without the addresses
// that the outer errors add, and without data from the other side, which
// net/http repeats: it may contain secrets that we sent.
func innermost(err error) string {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return lookup.Err
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	text, _, _ := strings.Cut(err.Error(), `"`)
	if strings.Contains(text, "malformed") {
		return "the answer is not HTTP"
	}
	return Line(text)
}

// Line returns foreign text as the detail of a failure: one line of at most 300
// bytes.
func Line(text string) string {
	const maxLen = 300
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029'
	}), " ")
	if len(text) > maxLen {
		text = strings.ToValidUTF8(text[:maxLen], "") + "..."
	}
	return text
}

// Hide returns text with the secrets replaced.
func Hide(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, bin.Redacted)
		}
	}
	return text
}

// Status returns the code and text of a status.
func Status(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// KindOf returns the kind of failure of an unsuccessful status.
func KindOf(status int) fault.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Denied
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusRequestTimeout:
		return fault.Timeout
	}
	return fault.Transport
}
