package ingest

import (
	"context"
	"hash/maphash"
	"io"
	"log/slog"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// Incoming is the prefix of the keys of parts that wait for others.
const Incoming = "incoming"

// ReplaceAfter is the time without a part after which an upload may be replaced.
const ReplaceAfter = 10 * time.Minute

// Limits are the largest numbers of decoded bytes.
type Limits struct{ Part, File bin.Size }

// Deps are the dependencies of a Store.
type Deps struct {
	Bucket bucket.Bucket
	Spool  func() (cache.Spool, error) // for a part while it is received
	Now    func() time.Time
	Log    *slog.Logger
}

// A Store receives parts and stores them. New creates it.
type Store struct {
	limits Limits
	deps   Deps
	packs  sync.Pool // of *zstd.Encoder
	seed   maphash.Seed
	locks  [64]chan struct{} // of folders
}

// New returns a Store.
func New(l Limits, d Deps) *Store {
	s := &Store{limits: l, deps: d, seed: maphash.MakeSeed()}
	for i := range s.locks {
		s.locks[i] = make(chan struct{}, 1)
	}
	return s
}

// lock waits until no other goroutine of this process publishes a folder.
func (s *Store) lock(ctx context.Context, folder string) (unlock func(), err error) {
	l := s.locks[maphash.String(s.seed, folder)%uint64(len(s.locks))]
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, fault.Of(ctx.Err())
	}
}

// An Upload is the parts that belong together.
type Upload struct {
	*Store
	Folder  string // below Incoming; its keys begin with it and a slash
	Count   int    // of parts
	IsNamed bool   // no other upload has this folder
	Place   string // for messages
	Log     *slog.Logger
	// Publish publishes all parts of the upload. A *Refusal discards them. It may be
	// called for parts that another process received.
	Publish func(ctx context.Context, c *Complete) error
}

// Complete is all parts of an upload.
type Complete struct {
	Parts []*Part
	next  func(k int) (io.ReadCloser, error)
}

// Open returns a reader of the frames of all parts, one after the other.
func (c *Complete) Open() *Reader { return &Reader{parts: c} }

// A Part is the description of a stored part.
type Part struct {
	Head
	Line []byte // JSON of the Head and the Note
}

// checkSize refuses parts that are too large together.
func (u *Upload) checkSize(parts []*Part) error {
	size := int64(0)
	for _, p := range parts {
		size += p.Size
	}
	if size > int64(u.limits.File) {
		return Refuse(TooLarge, u.Place, "its parts exceed %v in total", u.limits.File)
	}
	return nil
}
