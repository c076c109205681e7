// Package keys keeps the keys that clients send, in the bucket of the state.
package keys

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
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Right is what the holder of a key may do.
type Right string

// The rights. Who may upload may read too.
const (
	Upload Right = "upload"
	Read   Right = "read"
)

// Key is what is kept of a key. Who reads it cannot use the key.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // for people
	Right   Right     `json:"right"`
	Created time.Time `json:"created"`
	Hash    []byte    `json:"hash"` // SHA-256 of id:secret
}

// Ring is the keys of a store: those of the configuration, and those that were
// added. It is safe for concurrent use; several processes may have a ring over
// one bucket, and one sees within ringLife what another one did.
//
// In the bucket every change is a blob of its own, keys/1, keys/2 and so on, with
// all keys that count from then on. A blob is written only where none is, so of
// those who make a change at one time one is first, and the others make theirs on
// top of it: nothing is lost and nothing comes back. The last blob counts.
type Ring struct {
	// Closed is called when reading begins to need a key. It is set before the
	// ring is used; nil is nothing.
	Closed func()

	fixed  []Key
	bucket bucket.Bucket
	now    func() time.Time
	log    *slog.Logger

	mu      sync.Mutex
	added   []Key
	last    int       // number of the blob that has them; zero: there is none
	version string    // of this blob
	read    time.Time // when added was read; zero: never
}

const (
	ringLife = 5 * time.Second
	maxRing  = 1 << 20
	maxTurns = 100 // of a change that others are faster than
)

// ringKey is the name of a blob with keys in the bucket.
func ringKey(n int) string { return "keys/" + strconv.Itoa(n) }

// NewRing makes a ring over the bucket of a store.
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

// Add makes a key, and gives it in the form that clients send: it cannot be had
// again.
func (r *Ring) Add(ctx context.Context, name string, right Right) (encoded string, k Key, err error) {
	k = Key{ID: rand.Text()[:20], Name: name, Right: right, Created: r.now().UTC().Truncate(time.Second)}
	text := []byte(k.ID + ":" + rand.Text())
	sum := sha256.Sum256(text)
	k.Hash = sum[:]
	err = r.change(ctx, func(all []Key) ([]Key, error) { return append(all, k), nil })
	return base64.StdEncoding.EncodeToString(text), k, err
}

// Remove forgets a key by its id.
func (r *Ring) Remove(ctx context.Context, id string) error {
	return r.change(ctx, func(all []Key) ([]Key, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(k Key) bool { return k.ID == id })
		if len(left) == len(all) {
			return nil, fmt.Errorf("there is no key %q", id)
		}
		return left, nil
	})
}

// List is the keys that were added.
func (r *Ring) List(ctx context.Context) ([]Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(r.added), nil
}

// change makes a change to the keys that were added, on top of those of others.
func (r *Ring) change(ctx context.Context, do func([]Key) ([]Key, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range maxTurns {
		if err := r.load(ctx); err != nil {
			return err
		}
		all, err := do(r.added)
		if err != nil {
			return err
		}
		text, err := json.Marshal(all)
		switch {
		case err != nil:
			return err
		case len(text) > maxRing && len(all) > len(r.added):
			return fmt.Errorf("there are too many keys, or their names are too long: all of them have more than %d bytes", maxRing)
		}
		next := ringKey(r.last + 1)
		created, err := r.bucket.Put(ctx, next, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: true})
		if err != nil {
			return err
		}
		if !created { // or the answer of an earlier try was lost
			there, _, err := r.blob(ctx, next)
			if err != nil {
				return err
			}
			created = bytes.Equal(there, text)
		}
		if created {
			return r.load(ctx)
		}
	}
	return fault.New(fault.Transport, ringKey(r.last), "others change the keys all the time; try again")
}

// note takes the keys that were added by now.
func (r *Ring) note(all []Key) {
	before := closed(r.fixed) || closed(r.added)
	r.added, r.read = all, r.now()
	if !before && closed(all) && r.Closed != nil {
		r.Closed()
	}
}

// load reads the keys anew if there is another blob with keys, or none any more.
// Who calls it holds mu.
func (r *Ring) load(ctx context.Context) error {
	last, version := r.last, r.version
	if last > 0 {
		switch a, err := r.bucket.Stat(ctx, ringKey(last)); {
		case fault.KindOf(err) == fault.NotFound, err == nil && a.Version != version:
			last, version = 0, "" // the store is another one
		case err != nil:
			return err
		}
	}
	newest, err := r.newest(ctx, last)
	switch {
	case err != nil:
		return err
	case newest == r.last && version == r.version:
		r.read = r.now()
		return nil
	}
	var all []Key
	if newest > 0 {
		var text []byte
		if text, version, err = r.blob(ctx, ringKey(newest)); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return fault.New(fault.Malformed, ringKey(newest), "read the keys: %w", err)
		}
	}
	r.last, r.version = newest, version
	r.note(all)
	return nil
}

// newest is the number of the last blob with keys, if there is none missing below
// known. It takes as many requests as the number of blobs behind that has digits.
func (r *Ring) newest(ctx context.Context, known int) (int, error) {
	var failed error
	there := func(n int) bool {
		_, err := r.bucket.Stat(ctx, ringKey(n))
		if err != nil && fault.KindOf(err) != fault.NotFound {
			failed = err
		}
		return err == nil
	}
	step := 1
	for there(known + step) {
		known, step = known+step, 2*step
	}
	for step > 1 && failed == nil {
		if step /= 2; there(known + step) {
			known += step
		}
	}
	return known, failed
}

// blob reads a blob, and tells its version.
func (r *Ring) blob(ctx context.Context, key string) ([]byte, string, error) {
	body, a, err := r.bucket.Get(ctx, key, 0, maxRing)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return text, a.Version, err
}

// all is the keys that count now. Those that were read last count on while they
// cannot be read.
func (r *Ring) all(ctx context.Context) ([]Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read.IsZero() || r.now().Sub(r.read) >= ringLife {
		if err := r.load(ctx); err != nil {
			if r.read.IsZero() {
				return nil, err
			}
			r.log.Warn("the keys could not be read again; those of before count", "error", err)
			r.read = r.now()
		}
	}
	return slices.Concat(r.fixed, r.added), nil
}

// The answers of Allows, besides failures of the store.
var (
	ErrNoKey    = errors.New(`the request has no key that is known here; it comes as "Authorization: ApiKey BASE64", and "symbolon key add" makes one`)
	ErrNoRight  = errors.New("the key lets its holder read, not upload")
	ErrNoSecret = errors.New(`what stands in Authorization is no key: wanted is "ApiKey" and the base64 of ID:SECRET`)
)

// Allows says whether a request may do what needs a right. Reading is open
// while there is no key that is for reading alone. The time it takes does not
// tell how much of a key was right.
func (r *Ring) Allows(req *http.Request, right Right) error {
	keys, err := r.all(req.Context())
	if err != nil {
		return err
	}
	if right == Read && !closed(keys) {
		return nil
	}
	text, err := Sent(req.Header)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	found := Right("")
	for _, k := range keys {
		if subtle.ConstantTimeCompare(sum[:], k.Hash) == 1 && found != Upload { // the same key may be there twice
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

// Sent is the ID:SECRET that a client sends.
func Sent(h http.Header) ([]byte, error) {
	header := h.Get("Authorization")
	if header == "" {
		return nil, ErrNoKey
	}
	kind, encoded, _ := strings.Cut(header, " ")
	text, ok := Decode(strings.TrimSpace(encoded))
	if !ok || !strings.EqualFold(kind, "ApiKey") && !strings.EqualFold(kind, "Bearer") {
		return nil, ErrNoSecret
	}
	return text, nil
}

// closed says that reading needs a key.
func closed(keys []Key) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Right == Read })
}

// Open says whether everybody may read. Nobody may while that is not known.
func (r *Ring) Open(ctx context.Context) bool {
	keys, err := r.all(ctx)
	return err == nil && !closed(keys)
}

// Decode reads the base64 of ID:SECRET, in either alphabet, padded or not.
func Decode(encoded string) ([]byte, bool) {
	encoded = strings.TrimRight(encoded, "=")
	for _, alphabet := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if text, err := alphabet.DecodeString(encoded); err == nil && bytes.IndexByte(text, ':') > 0 {
			return text, true
		}
	}
	return nil, false
}
