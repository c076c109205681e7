// Package token stores the tokens of clients with their rights.
//
// A token is the base64 of ID:SECRET, 43 characters without padding. Stored is a SHA-256
// of ID:SECRET, so a reader of the bucket cannot use the tokens. Tokens come from the
// configuration, where any text may be one, or are added; added ones are in the bucket of
// the state, for all nodes over it. A node reads them again every five seconds, so a
// revoked token may stay valid that long on other nodes, three seconds longer if the
// bucket is slow, and 15 seconds after a read that failed. While the bucket cannot be read, the tokens of the last read stay
// valid.
//
// # Bucket
//
// Every change is a version of its own, keys/1, keys/2 and so on (see package numbered),
// with a JSON array of all valid tokens. Releases before tokens wrote keys with one
// right, "upload" or "read", which is valid in the project default.
package token

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/numbered"
	"symbolon/internal/ident"
)

// ErrUnknown refuses a token. It is the same for unknown, expired and revoked tokens.
var ErrUnknown = errors.New("the token is unknown, expired or revoked")

// A Token is a stored token, without its secret.
type Token struct {
	Grant
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Hash    []byte    `json:"hash"`             // SHA-256 of ID:SECRET
	Right   Right     `json:"right,omitempty"`  // of a key of earlier releases
}

// Fixed returns a token of a configuration.
func Fixed(text string, g Grant) Token {
	own := canonical(text)
	if id, _, ok := bytes.Cut(own, []byte{':'}); ok && g.ID == "" {
		g.ID = string(id)
	}
	sum := sha256.Sum256(own)
	return Token{Grant: g, Hash: sum[:]}
}

// Key returns the grant of a key of Elastic's interfaces.
func Key(name string, r Right) Grant {
	return Grant{Name: name, Rights: []Right{r}, Projects: []string{ident.DefaultProject}}
}

// A Ring is the tokens of the configuration and of a bucket. It is safe for
// concurrent use, also by several processes over the bucket.
type Ring struct {
	fixed  []Token
	blobs  numbered.Versions
	now    func() time.Time
	stored numbered.Cached[stored]
	uses   uses
}

// NewRing returns the tokens of the configuration and of a bucket.
func NewRing(fixed []Token, b bucket.Bucket, now func() time.Time, log *slog.Logger) *Ring {
	r := &Ring{fixed: fixed, blobs: numbered.Versions{Bucket: b, Prefix: "keys"}, now: now}
	r.stored = numbered.Cached[stored]{Read: r.load, Now: now, Failed: func(err error) {
		log.Warn("cannot read the tokens; those of the last read stay valid", "error", err)
	}}
	return r
}

// The lengths of the parts of a token: 40 and 115 random bits.
const (
	idLength     = 8
	secretLength = 23
)

// Add adds a token with the grant and the expiry of t. Without a list of rights it has
// the right upload, without a list of projects those rights are for the project default.
// Add returns the form that clients send, which is not stored.
func (r *Ring) Add(ctx context.Context, t Token) (encoded string, added Token, err error) {
	if len(t.Rights) == 0 {
		t.Rights = []Right{Upload}
	}
	if len(t.Projects) == 0 {
		t.Projects = []string{ident.DefaultProject}
	}
	if err := t.validate(r.now()); err != nil {
		return "", t, err
	}
	t.ID, t.Created = rand.Text()[:idLength], r.now().UTC().Truncate(time.Second)
	text := []byte(t.ID + ":" + rand.Text()[:secretLength])
	sum := sha256.Sum256(text)
	t.Hash = sum[:]
	err = r.change(ctx, func(all []Token) ([]Token, error) { return append(slices.Clip(all), t), nil })
	return base64.RawStdEncoding.EncodeToString(text), t, err
}

// validate returns an error if the grant or the expiry of t is invalid.
func (t *Token) validate(now time.Time) error {
	var errs []error
	for _, right := range t.Rights {
		if !slices.Contains(Rights(), right) {
			errs = append(errs, fmt.Errorf("invalid right %q: must be read, symbolicate, upload, upload-try, delete or admin", right))
		}
	}
	for _, name := range t.Projects {
		if err := ident.CheckProject(name); err != nil && name != Any {
			errs = append(errs, err)
		}
	}
	if !t.Expires.IsZero() && !t.Expires.After(now) {
		errs = append(errs, fmt.Errorf("invalid expiry %s: must be in the future", t.Expires.Format(time.RFC3339)))
	}
	return errors.Join(errs...)
}

// Revoke removes an added token.
func (r *Ring) Revoke(ctx context.Context, id string) error {
	return r.change(ctx, func(all []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(t Token) bool { return t.ID == id })
		if len(left) == len(all) {
			return nil, fmt.Errorf("unknown token %q", id)
		}
		return left, nil
	})
}

// List reads the added tokens.
func (r *Ring) List(ctx context.Context) ([]Token, error) {
	s, err := r.stored.Renew(ctx)
	return slices.Clone(s.tokens), err
}

// Grant returns the rights of a token, or ErrUnknown. The time does not depend on how
// much of a token is correct. While the added tokens cannot be read, it finds those of
// the configuration.
func (r *Ring) Grant(ctx context.Context, text string) (*Grant, error) {
	all, err := r.All(ctx)
	sum, now := sha256.Sum256(canonical(text)), r.now()
	var found *Grant
	for i := range all {
		t := &all[i]
		isValid := t.Expires.IsZero() || now.Before(t.Expires)
		switch {
		case subtle.ConstantTimeCompare(sum[:], t.Hash) != 1 || !isValid:
		case found == nil:
			found = &t.Grant
		default: // the configuration may list a token several times
			found = found.add(&t.Grant)
		}
	}
	switch {
	case found != nil:
		return found, nil
	case err != nil:
		return nil, err
	}
	return nil, ErrUnknown
}

// Holds reports whether the token with an id is valid. The empty id is that of clients
// without a token.
func (r *Ring) Holds(ctx context.Context, id string) (bool, error) {
	all, err := r.All(ctx)
	isValid := func(t Token) bool { return t.ID == id && (t.Expires.IsZero() || r.now().Before(t.Expires)) }
	if id == "" || slices.ContainsFunc(all, isValid) {
		return true, nil
	}
	return false, err
}

// IsOpen reports whether no token for reading the project default exists. It is false
// if the tokens cannot be read.
func (r *Ring) IsOpen(ctx context.Context) (bool, error) {
	all, err := r.All(ctx)
	return err == nil && !isClosed(all), err
}

// isClosed reports whether a token is for reading the project default. Expired ones
// count: no file becomes public by time alone.
func isClosed(all []Token) bool {
	return slices.ContainsFunc(all, func(t Token) bool {
		return slices.Contains(t.Rights, Read) && t.May(Read, ident.DefaultProject)
	})
}

// canonical returns the bytes of a token that are hashed: ID:SECRET, or the text
// itself. In the form of Sentry's client, the token is behind the last underscore.
func canonical(text string) []byte {
	if rest, ok := strings.CutPrefix(text, sentryPrefix); ok {
		text = rest[strings.LastIndexByte(rest, '_')+1:]
	}
	if own, ok := Decode(text); ok {
		return own
	}
	return []byte(text)
}

// sentryPrefix begins tokens that contain the address of their server.
const sentryPrefix = "sntrys_"

// Decode decodes the base64 of ID:SECRET, in either alphabet, padded or not.
func Decode(encoded string) (text []byte, ok bool) {
	encoded = strings.TrimRight(encoded, "=")
	for _, alphabet := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if text, err := alphabet.DecodeString(encoded); err == nil && bytes.IndexByte(text, ':') > 0 {
			return text, true
		}
	}
	return nil, false
}

// ForSentry returns a token in the form from which Sentry's client takes the address
// of the server and the organization too.
func ForSentry(encoded, url, org string, now time.Time) string {
	text, err := json.Marshal(struct {
		IssuedAt  float64 `json:"iat"`
		URL       string  `json:"url"`
		RegionURL string  `json:"region_url"`
		Org       string  `json:"org"`
	}{float64(now.Unix()), url, url, org})
	if err != nil {
		panic("token: " + err.Error()) // texts and a number
	}
	return sentryPrefix + base64.StdEncoding.EncodeToString(text) + "_" + encoded
}
