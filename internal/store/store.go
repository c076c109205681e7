package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/numbered"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/store/blob"
)

// Config configures uploads. The zero value is the default.
type Config struct {
	MaxFile    bin.Size `yaml:"max_file" least:"1" help:"Largest size of an uploaded debug file, decompressed."`
	MaxRequest bin.Size `yaml:"max_request" least:"1" help:"Largest size of the body of an upload."`
	MaxProject bin.Size `yaml:"max_project" least:"1" help:"Largest size of all uploads of a project, decompressed. Beyond it the collection deletes uploads whose rule has an end, and others are refused. Default: unlimited."`
	MaxTotal   bin.Size `yaml:"max_total" least:"1" help:"The same for all projects together."`
	MaxDaily   bin.Size `yaml:"max_daily" least:"1" help:"Largest decompressed size of all uploads of one client, identified by the name of its token, through this node in a day (UTC); refused uploads count. Default: unlimited."`
	Keep       []Rule   `yaml:"keep" help:"How long uploads are kept: the first rule that matches applies. Uploads without a rule are kept until they are deleted."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.MaxFile = cmp.Or(c.MaxFile, 8<<30)
	c.MaxRequest = cmp.Or(c.MaxRequest, 8<<30)
	return c
}

// Deps are the dependencies of a Store.
type Deps struct {
	Bucket bucket.Bucket
	Spool  func() (cache.Spool, error) // for a large file while it is received
	// IsOpen reports whether the project default is public while it has no settings.
	// nil: it is.
	IsOpen func(context.Context) bool
	Now    func() time.Time
	Log    *slog.Logger
}

// A Store keeps uploaded files. New creates it.
type Store struct {
	cfg      Config
	deps     Deps
	onChange func(ids []ident.Module)
	changes  changes
	projects numbered.Cached[projects]
	uses     uses
	usage    usage
	daily    daily
	refusals refusals
	blobs    blob.Pool
	buffers  sync.Pool                   // of *[]byte
	last     atomic.Int64                // time of the last upload of this process, in milliseconds
	away     atomic.Pointer[fault.Error] // why the bucket is unavailable, as Watch has seen
}

// New returns a Store.
func New(cfg Config, d Deps) *Store {
	s := &Store{cfg: cfg.Defaults(), deps: d, onChange: func([]ident.Module) {}}
	s.projects = numbered.Cached[projects]{Read: s.readProjects, Now: d.Now, Failed: func(err error) {
		d.Log.Warn("cannot read the projects; those of the last read count", "error", err)
	}}
	s.buffers.New = func() any { b := make([]byte, 256<<10); return &b }
	return s
}

// create stores a text unless the key exists. It becomes durable later if isLater is
// set.
func (s *Store) create(ctx context.Context, key string, text []byte, isLater bool) (bool, error) {
	return s.deps.Bucket.Put(ctx, key, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: true, Later: isLater})
}

// read reads a blob.
func (s *Store) read(ctx context.Context, key string) ([]byte, error) {
	return bucket.Read(ctx, s.deps.Bucket, key, 0, -1)
}

// exists reports whether a key exists.
func (s *Store) exists(ctx context.Context, key string) (bool, error) {
	_, err := s.deps.Bucket.Stat(ctx, key)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// encode returns the JSON of a value that has one.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// keys returns all keys with a prefix.
func (s *Store) keys(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return bucket.Keys(ctx, s.deps.Bucket, prefix, "")
}
