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

	"symbolon/internal/bin"
)

// URL is an address that may carry secrets, as user info or in its query. It
// shows itself without them, like a Secret.
type URL struct{ full bin.Secret }

// NewURL makes an address of text, which may be anything: Config.Validate
// says whether it is an address.
func NewURL(text string) URL { return URL{bin.NewSecret(text)} }

// Reveal is the address with its secrets.
func (u URL) Reveal() string { return u.full.Reveal() }

// IsZero tells whether there is no address.
func (u URL) IsZero() bool { return u.full.IsZero() }

// Parse reads the address, which must be http or https with a host. The error
// does not repeat the text: it may hold a secret where nobody expects one.
func (u URL) Parse() (*url.URL, error) {
	parsed, err := url.Parse(u.Reveal())
	switch {
	case u.IsZero():
		return nil, errors.New("a url is missing")
	case err != nil:
		return nil, errors.New("the url cannot be read as one")
	case parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "":
		return nil, errors.New("the url must begin with http:// or https:// and name a host")
	}
	return parsed, nil
}

// String is the address without its secrets.
func (u URL) String() string {
	if u.IsZero() {
		return ""
	}
	return CleanURL(u.Reveal())
}

// Format writes the address without its secrets whatever the verb.
func (u URL) Format(f fmt.State, _ rune) { writeText(f, u.String()) }

// MarshalText gives the address without its secrets.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalYAML gives the address without its secrets.
func (u URL) MarshalYAML() (any, error) { return u.String(), nil }

// LogValue gives the address without its secrets.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// UnmarshalText reads the address as it is.
func (u *URL) UnmarshalText(text []byte) error {
	*u = NewURL(string(text))
	return nil
}

// CleanURL is an address as people may see it: without user info, query and
// fragment, any of which may hold a secret. What is no address with a host
// does not tell where its secrets are and is not shown at all.
func CleanURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return bin.Redacted
	}
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return clean.String()
}

// CredentialID tells sets of secrets apart without telling the secrets. It is
// empty if there are none.
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
