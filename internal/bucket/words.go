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

// innermost is the root of an error, which tells what happened without the
// addresses that the layers above add, and without what the other side has sent,
// which net/http repeats: it may be what it was sent by us.
func innermost(err error) string {
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return lookup.Err
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	text, _, _ := strings.Cut(err.Error(), `"`)
	if strings.Contains(text, "malformed") {
		return "the store does not speak HTTP"
	}
	return Line(text)
}

// Line is a text of others as the detail of a failure: one line, not too long.
func Line(text string) string {
	const most = 300
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029'
	}), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// Hide is a text without the secrets in it.
func Hide(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, bin.Redacted)
		}
	}
	return text
}

// Status is a status as people know it.
func Status(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// KindOf is the kind of failure that a status means which is no success.
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
