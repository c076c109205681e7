package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"symbolon/internal/bin"
)

// URL is an address that may have secrets, as user info or in its query. Like a
// Secret, it is formatted without them.
type URL struct{ full bin.Secret }

// NewURL returns text as an address. Config.Validate reports whether it is one.
func NewURL(text string) URL { return URL{bin.NewSecret(text)} }

// Reveal returns the address with its secrets.
func (u URL) Reveal() string { return u.full.Reveal() }

// IsZero reports whether the address is empty.
func (u URL) IsZero() bool { return u.full.IsZero() }

// Parse parses the address, which must be http or https with a host. The error
// does not repeat the text, which may have a secret anywhere.
func (u URL) Parse() (*url.URL, error) {
	parsed, err := url.Parse(u.Reveal())
	switch {
	case u.IsZero():
		return nil, errors.New("the url is missing")
	case err != nil && strings.Contains(u.Reveal(), "://"):
		return nil, errors.New("invalid url")
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		return nil, errors.New("the url must begin with http:// or https:// and name a host")
	}
	return parsed, nil
}

// String returns the address without its secrets.
func (u URL) String() string {
	if u.IsZero() {
		return ""
	}
	return CleanURL(u.Reveal())
}

// Format writes the address without its secrets whatever the verb.
func (u URL) Format(f fmt.State, _ rune) { writeText(f, u.String()) }

// MarshalText returns the address without its secrets.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalYAML returns the address without its secrets.
func (u URL) MarshalYAML() (any, error) { return u.String(), nil }

// LogValue returns the address without its secrets.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// UnmarshalText sets the address to text.
func (u *URL) UnmarshalText(text []byte) error {
	*u = NewURL(string(text))
	return nil
}

// CleanURL returns an address for people: without user info, query and fragment,
// which may have secrets, and without tokens in its path. A text that is not an address
// with a host is redacted completely.
func CleanURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return bin.Redacted
	}
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return bin.RedactTokens(clean.String())
}

// CredentialID returns a text that differs for different sets of secrets, or an
// empty one without secrets.
func CredentialID(secrets ...bin.Secret) string {
	h := sha256.New()
	some := false
	for _, s := range secrets {
		text := s.Reveal()
		some = some || text != ""
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(text)))
		h.Write(n[:])
		io.WriteString(h, text)
	}
	if !some {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func writeText(f fmt.State, text string) {
	_, _ = io.WriteString(f, text) // fmt has no way to take an error
}
