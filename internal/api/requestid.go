package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

type requestIDKey struct{}

// RequestID returns the id of the request of ctx, for log lines.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// requestID returns the id that a proxy set, if it is valid in a log line and a
// header and has no token, or a new one.
func requestID(r *http.Request) string {
	const maxLength = 128
	id := r.Header.Get("X-Request-ID")
	if id != "" && len(id) <= maxLength && isWord(id) && hide(id) == id {
		return id
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func isWord(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '=', c == '+', c == '/', c == '@':
		default:
			return false
		}
	}
	return true
}
