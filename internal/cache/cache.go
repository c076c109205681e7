// Package cache is what was already found out: entries and remembered faults
// by key. The root of the family holds the contract of its tiers, the keys,
// the lifetimes of faults, and Flight, which lets one caller work for all who
// ask for the same. cachetest holds the tests that every tier must pass.
//
// Entries are immutable: what may change is part of the key, as a version or
// as a hash. So an entry is never stale; it is there or it is not, and a tier
// may lose it at any time. What is lost is made again.
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

// Kind is what sort of entry a key stands for. One key may have an entry of
// each kind. Kinds are names of folders, labels of metrics and parts of what
// is stored; they are not renamed.
type Kind string

const (
	Objects  Kind = "objects"  // files as they were fetched
	Meta     Kind = "meta"     // what is known of a file
	Symcache Kind = "symcache" // lookup tables
	Cficache Kind = "cficache" // unwind tables
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Objects, Meta, Symcache, Cficache} }

// Key names an entry.
type Key [sha256.Size]byte

// KeyOf is the SHA-256 of a canonical text: each part with its length before
// it, so that no two lists of parts have one text.
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

// String is the key in lower-case hex.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads what String writes, and nothing else.
func ParseKey(text string) (Key, bool) {
	var k Key
	if len(text) != hex.EncodedLen(len(k)) {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(text))
	return k, err == nil && k.String() == text
}

// Blob is an open entry. It stays readable until it is closed, also when the
// entry is evicted, replaced or forgotten meanwhile. Reading is safe for
// concurrent use; nothing read in place may be used after Close.
type Blob interface {
	bin.Source
	Close() error
}

// Spool is a file that is being received and belongs to nobody else. It is
// written first and read then; it is gone when it is closed.
type Spool interface {
	bin.Source
	io.Writer
	Close() error
}

// Tier keeps entries and remembered faults. It is safe for concurrent use.
//
// Get opens an entry. It returns nil and nil when nothing is known, and a
// *fault.Error when a fault is remembered that still holds; Expires tells
// until when. A tier that is broken knows nothing.
//
// Put makes an entry of what fill writes, whole or not at all, replaces what
// the key had, entry or fault, and opens it. The error of fill is returned as
// it came. When ctx ends, the next Write of fill fails.
//
// Remember keeps a fault for a while, in place of what the key had. Faults of
// kind Internal and times that are not positive are not kept, and then the key
// keeps what it has. The fault's cause is not kept.
//
// Forget drops what the key has.
type Tier interface {
	Get(ctx context.Context, kind Kind, key Key) (Blob, error)
	Put(ctx context.Context, kind Kind, key Key, fill func(io.Writer) error) (Blob, error)
	Remember(ctx context.Context, kind Kind, key Key, f *fault.Error, life time.Duration)
	Forget(ctx context.Context, kind Kind, key Key)
}

// MaxText is how many bytes of the place and of the detail of a fault are
// remembered.
const MaxText = 1 << 10

// Clip is the start of a text that is short enough to be remembered.
func Clip(text string) string {
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	return strings.ToValidUTF8(text, "")
}

// Remembered is f as a tier returns it: with the end of its time as its cause.
func Remembered(f *fault.Error, until time.Time) *fault.Error {
	return &fault.Error{Kind: f.Kind, Place: f.Place, Detail: f.Detail, Status: f.Status, Cause: &memory{until}}
}

type memory struct{ until time.Time }

func (m *memory) Error() string { return "remembered until " + m.until.UTC().Format(time.RFC3339) }

// Expires is until when err holds, if it was remembered by a tier; else it is
// zero.
func Expires(err error) time.Time {
	var m *memory
	if !errors.As(err, &m) {
		return time.Time{}
	}
	return m.until
}
