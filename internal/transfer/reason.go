package transfer

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Reason returns a text for the error of a connection, and whether another try may
// succeed.
func Reason(err error) (text string, again bool) {
	var (
		lookup *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		remote *net.OpError
	)
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "no such host", false
	case errors.As(err, &lookup):
		return "the name of the host could not be looked up", true
	case errors.As(err, &cert):
		return "certificate is not trusted: " + cert.Err.Error(), false
	case errors.As(err, &record):
		return "the server does not speak TLS", false
	case errors.As(err, &remote) && remote.Op == "remote error":
		return "the server refuses the TLS handshake: " + remote.Err.Error(), false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", true
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset by the server", true
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "no route to the host", true
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the file did", true
	case errors.Is(err, io.EOF):
		return "connection closed without an answer", true
	}
	for _, known := range [...]struct {
		part, text string
		again      bool
	}{
		{"server gave HTTP response to HTTPS client", "the server does not speak TLS", false},
		// Or the connection began with the rest of a body that an earlier answer
		// should not have had.
		{"malformed HTTP", "the server does not speak HTTP", true},
		{"malformed MIME header", "the server does not speak HTTP", true},
		{"server closed idle connection", "connection closed without an answer", true},
	} {
		if strings.Contains(err.Error(), known.part) {
			return known.text, known.again
		}
	}
	return "connection failed: " + err.Error(), true
}

// maxReason is the length in bytes of a reason that a server gives.
const maxReason = 500

// OneLine returns text of a server on one line of at most 500 bytes.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// PlainReason returns the first line of a body of plain text, such as that of a server
// which expects TLS; it is empty for a body of another type.
func PlainReason(h http.Header, body []byte) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); kind != "" && kind != "text/plain" {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") {
		return ""
	}
	return OneLine(line)
}
