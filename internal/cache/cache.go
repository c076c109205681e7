// Package cache stores results by key: entries and remembered faults. The root
// of the family has the contract of its tiers, the keys, the lifetimes of
// faults, and Flight, which lets callers that need the same result share the
// work. cachetest has the tests that every tier must pass.
//
// Entries are immutable: whatever may change is part of the key, as a version
// or a hash. So an entry is never stale, and a tier may lose it at any time: it
// is made again.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Kind is the kind of an entry. One key may have an entry of each kind. Kinds
// are names of folders, labels of metrics and parts of stored keys, so they are
// never renamed.
type Kind string

const (
	Objects  Kind = "objects"  // fetched files, and .sym files made from others
	Meta     Kind = "meta"     // descriptions of files
	Symcache Kind = "symcache" // lookup tables
	Cficache Kind = "cficache" // tables of unwind information
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Objects, Meta, Symcache, Cficache} }

// IsTable reports whether entries are built from files. All nodes build the same.
func (k Kind) IsTable() bool { return k == Symcache || k == Cficache }

// Key names an entry.
type Key [sha256.Size]byte

// KeyOf returns the SHA-256 of a canonical text of parts. Each part follows its
// length, so no two lists of parts have the same text.
func KeyOf(parts ...string) Key {
	var text []byte
	for _, p := range parts {
		text = strconv.AppendInt(text, int64(len(p)), 10)
		text = append(text, ':')
		text = append(text, p...)
		text = append(text, '\n')
	}
	return sha256.Sum256(text)
}

// String returns the key in lower-case hex.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey parses a key as String returns it.
func ParseKey(text string) (Key, bool) {
	var k Key
	if len(text) != hex.EncodedLen(len(k)) {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(text))
	return k, err == nil && k.String() == text
}

// Blob is an open entry. It stays readable until it is closed, even if the entry
// is evicted, replaced or forgotten before. Reading is safe for concurrent use;
// bytes read in place may not be used after Close.
type Blob interface {
	bin.Source
	Close() error
}

// Spool is a temporary file with one owner, for bytes that are being received.
// It is written first and then read, and removed when it is closed.
type Spool interface {
	bin.Source
	io.Writer
	Close() error
}

// Tier stores entries and remembered faults. It is safe for concurrent use.
//
// Get opens an entry. It returns nil and nil on a cache miss, and a
// *fault.Error for a remembered fault that has not expired; Expires returns
// when it does. In a broken tier everything is a miss.
//
// Put stores the bytes that fill writes as an entry, completely or not at all,
// replaces the entry or fault of the key, and opens the new entry. It returns
// the error of fill unchanged. When ctx ends, the next Write of fill fails.
//
// Remember stores a fault for a while and replaces the entry or fault of the
// key. It ignores faults of kind Internal and lifetimes that are not positive.
// The fault's cause is not stored.
//
// Forget removes the entry or fault of the key.
type Tier interface {
	Get(ctx context.Context, kind Kind, key Key) (Blob, error)
	Put(ctx context.Context, kind Kind, key Key, fill func(io.Writer) error) (Blob, error)
	Remember(ctx context.Context, kind Kind, key Key, f *fault.Error, life time.Duration)
	Forget(ctx context.Context, kind Kind, key Key)
}

// Store stores an entry as Put does, and does not open it.
func Store(ctx context.Context, t Tier, kind Kind, key Key, fill func(io.Writer) error) error {
	blob, err := t.Put(ctx, kind, key, fill)
	if err != nil {
		return err
	}
	return blob.Close()
}

// StoreText stores a text as an entry.
func StoreText(ctx context.Context, t Tier, kind Kind, key Key, text []byte) error {
	return Store(ctx, t, kind, key, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// MaxText is the largest size of the place and of the detail of a remembered
// fault.
const MaxText = 1 << 10

// Clip truncates text to MaxText bytes.
func Clip(text string) string {
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	return strings.ToValidUTF8(text, "")
}

// Remembered returns f as a tier does: with its expiry as its cause.
func Remembered(f *fault.Error, until time.Time) *fault.Error {
	return &fault.Error{Kind: f.Kind, Place: f.Place, Detail: f.Detail, Status: f.Status, Cause: &memory{until}}
}

type memory struct{ until time.Time }

func (m *memory) Error() string { return "remembered until " + m.until.UTC().Format(time.RFC3339) }

// Expires returns when err expires, if a tier remembered it, or else zero.
func Expires(err error) time.Time {
	var m *memory
	if !errors.As(err, &m) {
		return time.Time{}
	}
	return m.until
}
