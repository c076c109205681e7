package symbfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/source"
)

const (
	// MaxParts is how many parts a file may have.
	MaxParts = 1<<15 - 1
	// MaxUpload is how long the name of an upload may be.
	MaxUpload = 64
	// Incoming is the prefix of the keys of parts that wait.
	Incoming = "incoming"

	apart = "~" // between the name of an upload and its client
)

// Kind is what a file has.
type Kind uint8

const (
	Ranges Kind = iota
	ReturnPads
)

// String is the name of the published blob.
func (k Kind) String() string {
	if k == ReturnPads {
		return source.PadsFile
	}
	return source.RangesFile
}

// Part says what is sent.
type Part struct {
	File         ident.FileID
	Kind         Kind
	Index, Count int
	Upload       string        // the name of the upload, "" if it has none
	Client       string        // what is known of the sender; parts of different clients never meet
	BuildID      ident.BuildID // zero: not told
	Base         *uint64       // address of the first segment; nil: not told
}

func (p Part) check() error {
	place := "part of " + p.File.Base64()
	_, badID := ident.ParseBuildID(string(p.BuildID))
	switch {
	case p.Kind > ReturnPads:
		return refuse(Malformed, place, "there is no kind %d", p.Kind)
	case p.Count < 1 || p.Count > MaxParts || p.Index < 0 || p.Index >= p.Count:
		return refuse(Malformed, place, "there is no part %d of %d", p.Index, p.Count)
	case !IsUpload(p.Upload):
		return refuse(Malformed, place, "this cannot be the name of an upload: %.80q", p.Upload)
	case p.BuildID != "" && badID != nil:
		return refuse(Malformed, place, "%w", badID)
	}
	return nil
}

// IsUpload says whether text can be the name of an upload. None is one too.
func IsUpload(text string) bool {
	return len(text) <= MaxUpload && !strings.ContainsFunc(text, notInName)
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// upload tells the parts that belong together from others: by the name that they
// have, and by the client.
func (p Part) upload() string {
	if p.Client == "" {
		return p.Upload + apart
	}
	sum := sha256.Sum256([]byte(p.Client))
	return p.Upload + apart + hex.EncodeToString(sum[:8])
}

// Deps is what a Store needs of the world around it.
type Deps struct {
	Bucket bucket.Bucket
	Spool  func() (cache.Spool, error) // holds a part while it is received
	Now    func() time.Time
	Log    *slog.Logger
}

// Store takes parts and has the files. Make it with New.
type Store struct {
	cfg   Config
	deps  Deps
	packs sync.Pool // of *zstd.Encoder
	seed  maphash.Seed
	locks [64]chan struct{} // of files
}

// New makes a Store.
func New(cfg Config, d Deps) *Store {
	s := &Store{cfg: cfg.Defaults(), deps: d, seed: maphash.MakeSeed()}
	for i := range s.locks {
		s.locks[i] = make(chan struct{}, 1)
	}
	return s
}

// Take receives a part. If that has published the file, it gives what is published
// now, else nil. What is wrong with the part is a *Refusal. A failure of body that is
// not its end comes as it is, wrapped. After any other failure the part may or may
// not be held; to send it again is right.
func (s *Store) Take(ctx context.Context, p Part, body io.Reader) (published *Info, err error) {
	defer func() { s.count(p, published != nil, err) }()
	if err := p.check(); err != nil {
		return nil, err
	}
	d, err := s.receive(ctx, p, body)
	if err != nil {
		return nil, err
	}
	defer d.spool.Close()
	u := upload{Store: s, file: p.File, kind: p.Kind, count: p.Count, name: p.upload()}
	if p.Count == 1 {
		return u.alone(ctx, d)
	}
	r, held, err := u.hold(ctx, p.Index, d)
	if err != nil || !held {
		return nil, err
	}
	heads, missing, err := r.scan(ctx, p.Index, func(h *head) bool { return h == nil })
	if err != nil || missing {
		return nil, err
	}
	return r.publish(ctx, heads)
}

// count counts what has become of a part.
func (s *Store) count(p Part, published bool, err error) {
	outcome := "taken"
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		outcome = refused.Why.String()
	case err != nil:
		outcome = "failed"
	}
	metric.UploadParts.Add(1, p.Kind.String(), outcome)
	if published {
		metric.UploadsPublished.Add(1, p.Kind.String())
	}
}

// Open reads n bytes from offset off on of what is published, as it is stored: zstd.
func (s *Store) Open(ctx context.Context, f ident.FileID, k Kind, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	return s.deps.Bucket.Get(ctx, source.ElasticPath(f, k.String()), off, n)
}

// lock lets nobody else of this process publish or replace parts of a file.
func (s *Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	l := s.locks[maphash.String(s.seed, name)%uint64(len(s.locks))]
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, fault.Of(ctx.Err())
	}
}
