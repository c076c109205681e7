package symbfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/metric"
	"symbolon/internal/source"
)

const (
	// MaxParts is the largest number of parts of a file.
	MaxParts = 1<<15 - 1
	// MaxUpload is the largest length of the name of an upload.
	MaxUpload = 64

	apart = "~" // between the name of an upload and its client
)

// A Kind is the kind of records of a file.
type Kind uint8

const (
	Ranges Kind = iota
	ReturnPads
)

// String returns the name of the published blob.
func (k Kind) String() string {
	if k == ReturnPads {
		return source.PadsFile
	}
	return source.RangesFile
}

// A Part describes a part that is sent.
type Part struct {
	File         ident.FileID
	Kind         Kind
	Index, Count int
	Upload       string        // the name of the upload, "" without one
	Client       string        // identifies the client, if known; parts of different clients are of different uploads
	BuildID      ident.BuildID // zero: not sent
	Base         *uint64       // address of the first segment; nil: not sent
}

func (p Part) check() error {
	place := "part of " + p.File.Base64()
	_, badID := ident.ParseBuildID(string(p.BuildID))
	switch {
	case p.Kind > ReturnPads:
		return ingest.Refuse(ingest.Malformed, place, "unknown kind %d", p.Kind)
	case p.Count < 1 || p.Count > MaxParts || p.Index < 0 || p.Index >= p.Count:
		return ingest.Refuse(ingest.Malformed, place, "invalid part %d of %d", p.Index, p.Count)
	case !IsUpload(p.Upload):
		return ingest.Refuse(ingest.Malformed, place, "this cannot be the name of an upload: %.80q", p.Upload)
	case p.BuildID != "" && badID != nil:
		return ingest.Refuse(ingest.Malformed, place, "%w", badID)
	}
	return nil
}

// IsUpload reports whether text can be the name of an upload, or is empty.
func IsUpload(text string) bool {
	return len(text) <= MaxUpload && !strings.ContainsFunc(text, notInName)
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// folder returns the folder of the parts that belong together.
func (p Part) folder() string {
	upload := p.Upload + apart
	if p.Client != "" {
		sum := sha256.Sum256([]byte(p.Client))
		upload += hex.EncodeToString(sum[:8])
	}
	return fmt.Sprintf("%s/%s/%s/%d/%s", ingest.Incoming, p.File.Base64(), p.Kind, p.Count, upload)
}

// A Store receives parts and stores files. New creates it.
type Store struct {
	cfg   Config
	deps  ingest.Deps
	parts *ingest.Store
}

// New returns a Store.
func New(cfg Config, d ingest.Deps) *Store {
	cfg = cfg.Defaults()
	return &Store{cfg, d, ingest.New(ingest.Limits{Part: cfg.MaxPart, File: cfg.MaxFile}, d)}
}

// Take receives a part. If the file was published then, it returns the Info, else
// nil. The error is an *ingest.Refusal if the part or the upload is invalid, and
// wraps one of body. After another failure the part may be stored or not; the
// client should send it again.
func (s *Store) Take(ctx context.Context, p Part, body io.Reader) (published *Info, err error) {
	defer func() { s.count(p, published != nil, err) }()
	if err := p.check(); err != nil {
		return nil, err
	}
	d, err := s.receive(ctx, p, body)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f := file{s, p.File, p.Kind}
	var i *Info
	u := ingest.Upload{
		Store: s.parts, Folder: p.folder(), Count: p.Count, IsNamed: p.Upload != "", Place: p.File.Base64(),
		Log: s.deps.Log.With("file", p.File.Base64(), "kind", p.Kind),
		Publish: func(ctx context.Context, c *ingest.Complete) (err error) {
			i, err = f.publish(ctx, c)
			return err
		},
	}
	if isPublished, err := u.Add(ctx, p.Index, d); err != nil || !isPublished {
		return nil, err
	}
	return i, nil
}

// count counts the outcome of a part.
func (s *Store) count(p Part, isPublished bool, err error) {
	outcome := "taken"
	var refused *ingest.Refusal
	switch {
	case errors.As(err, &refused):
		outcome = refused.Why.String()
	case err != nil:
		outcome = "failed"
	}
	metric.UploadParts.Add(1, p.Kind.String(), outcome)
	if isPublished {
		metric.UploadsPublished.Add(1, p.Kind.String())
	}
}

// Open reads a published file, which is zstd, from offset off to its end.
func (s *Store) Open(ctx context.Context, f ident.FileID, k Kind, off int64) (io.ReadCloser, bucket.Attrs, error) {
	return s.deps.Bucket.Get(ctx, source.ElasticPath(f, k.String()), off, -1)
}
