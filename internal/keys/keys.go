// Package keys keeps the keys that clients send, and checks them.
//
// A key is the base64 of ID:SECRET. Stored is a SHA-256 of it, so a reader of the
// bucket cannot use the keys. Keys come from the configuration, or are created;
// created ones are in the bucket of the state, for all nodes over it. A node reads
// them again every five seconds, so that long a revoked key may still be valid on
// other nodes. While the bucket cannot be read, the keys of the last read stay
// valid.
//
// # Bucket
//
// Every change is a blob of its own, keys/1, keys/2 and so on, with a JSON array of
// all keys that are valid from then on; the last blob counts. A blob is created
// conditionally and never rewritten, so of concurrent changes one is first and the
// others are made again on top of it.
package keys

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
)

// A Right is what a key permits.
type Right string

// The rights. A key for uploads also permits reading.
const (
	Upload Right = "upload"
	Read   Right = "read"
)

// The reasons to refuse a request, other than failures of the bucket.
var (
	ErrNoKey      = errors.New(`the request has no known key: send "Authorization: ApiKey BASE64" with a key that symbolon key add printed`)
	ErrNoRight    = errors.New("the key permits reading, not uploading")
	ErrInvalidKey = errors.New(`invalid Authorization: must be "ApiKey" and the base64 of ID:SECRET`)
)

// A Key is a stored key, without its secret.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // for people
	Right   Right     `json:"right"`
	Created time.Time `json:"created"`
	Hash    []byte    `json:"hash"` // SHA-256 of ID:SECRET
}

// A Ring is the keys of the configuration and of a bucket. It is safe for
// concurrent use, also by several processes over the bucket.
type Ring struct {
	// OnClose is called when reading begins to need a key. It is set before the
	// ring is used; nil does nothing.
	OnClose func()

	fixed  []Key
	bucket bucket.Bucket
	now    func() time.Time
	log    *slog.Logger

	mu      sync.Mutex
	created []Key
	last    int       // number of their blob; zero: no blob yet
	version string    // of this blob
	read    time.Time // when they were read; zero: never
}

// NewRing returns the keys of the configuration, by their right, and of a bucket.
func NewRing(fixed map[Right][]bin.Secret, b bucket.Bucket, now func() time.Time, log *slog.Logger) *Ring {
	r := &Ring{bucket: b, now: now, log: log}
	for right, list := range fixed {
		for _, k := range list {
			if text, ok := Decode(k.Reveal()); ok {
				sum := sha256.Sum256(text)
				r.fixed = append(r.fixed, Key{Right: right, Hash: sum[:]})
			}
		}
	}
	return r
}

// Create creates a key. It returns the form that clients send, which is not stored.
func (r *Ring) Create(ctx context.Context, name string, right Right) (encoded string, k Key, err error) {
	k = Key{ID: rand.Text()[:20], Name: name, Right: right, Created: r.now().UTC().Truncate(time.Second)}
	text := []byte(k.ID + ":" + rand.Text())
	sum := sha256.Sum256(text)
	k.Hash = sum[:]
	err = r.change(ctx, func(all []Key) ([]Key, error) { return append(all, k), nil })
	return base64.StdEncoding.EncodeToString(text), k, err
}

// Revoke removes a created key.
func (r *Ring) Revoke(ctx context.Context, id string) error {
	return r.change(ctx, func(all []Key) ([]Key, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(k Key) bool { return k.ID == id })
		if len(left) == len(all) {
			return nil, fmt.Errorf("unknown key %q", id)
		}
		return left, nil
	})
}

// List reads the created keys.
func (r *Ring) List(ctx context.Context) ([]Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(r.created), nil
}

// Check returns an error unless the key of a request permits something. Reading
// needs a key only if there is one for reading. The time it takes does not depend
// on how much of a key is right.
func (r *Ring) Check(req *http.Request, right Right) error {
	keys, err := r.valid(req.Context())
	if err != nil {
		return err
	}
	if right == Read && !isClosed(keys) {
		return nil
	}
	text, err := Sent(req.Header)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	found := Right("")
	for _, k := range keys { // a key may be listed with both rights
		if subtle.ConstantTimeCompare(sum[:], k.Hash) == 1 && found != Upload {
			found = k.Right
		}
	}
	switch {
	case found == "":
		return ErrNoKey
	case right == Upload && found != Upload:
		return ErrNoRight
	}
	return nil
}

// IsOpen reports whether reading needs no key. It is false while the keys cannot
// be read.
func (r *Ring) IsOpen(ctx context.Context) bool {
	keys, err := r.valid(ctx)
	return err == nil && !isClosed(keys)
}

// isClosed reports whether reading needs a key.
func isClosed(keys []Key) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Right == Read })
}

// Sent returns the ID:SECRET that a client sent.
func Sent(h http.Header) ([]byte, error) {
	header := h.Get("Authorization")
	if header == "" {
		return nil, ErrNoKey
	}
	scheme, encoded, _ := strings.Cut(header, " ")
	text, ok := Decode(strings.TrimSpace(encoded))
	if !ok || !strings.EqualFold(scheme, "ApiKey") && !strings.EqualFold(scheme, "Bearer") {
		return nil, ErrInvalidKey
	}
	return text, nil
}

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
