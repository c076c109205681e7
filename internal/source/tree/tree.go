// Package tree is the source of files in a folder with a layout, in any bucket.
//
// A file may be stored uncompressed, or as gzip or zstd under its plain name. Names are
// as case-sensitive as the bucket. Ids are often written in lower case; the second,
// canonical candidate finds these files.
//
// In a folder of this machine, where lookups are cheap, the plain name may have
// the suffix ".gz" or ".zst"; the name without a suffix is tried first. Files of
// Windows are found in any case, and in two tiers if the root has a file
// index2.txt. In an object store a candidate is one request. Large files are read
// from there in ranges, and a file with a known validator is not sent again.
//
// A configured folder without a layout is native, and its top two levels show the
// other layouts that it has: a folder .build-id, the layouts symstore and unified,
// and files of the top level, which are found by the ids in them.
//
// A Source is safe for concurrent use. The limit of its decoder bounds the decoded
// bytes.
package tree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

// siblings are the suffixes of the name of a stored file, in the order in which
// they are tried.
var siblings = [...]string{"", ".gz", ".zst"}

// maxAlias is the largest size of an alias.
const maxAlias = 4 << 10

// indexRoom bounds the memory for the index of one folder of this machine.
const indexRoom = 64 << 20

// Source is a folder with a layout. Make it with New.
type Source struct {
	cfg     source.Config
	bucket  bucket.Bucket
	decoder *source.Decoder
	now     func() time.Time
	label   string        // in the metrics
	root    string        // absolute path of a folder of this machine
	place   string        // address of the folder, for people
	key     string        // identity of the folder; for a file its path follows
	index   *source.Index // nil: no index
	far     *Deps         // nil: it is in a folder of this machine

	// Of a configured folder:
	lister lister // nil: it cannot be listed
	shown  bool   // its layouts are detected
	shelf  *source.Shelf
	wait   time.Duration // for the contents of a folder, before an answer without them
	began  atomic.Int64  // when the read in progress began, in nanoseconds, or zero
	last   atomic.Pointer[folder]
}

// New returns a source of the bucket of the folder cfg.Path. If cfg has no layout
// and the bucket can be listed, the layouts are detected.
func New(cfg source.Config, b bucket.Bucket, decoder *source.Decoder, now func() time.Time) (*Source, error) {
	s, err := local(cfg, b, decoder, now)
	if err == nil {
		s.lister, _ = b.(lister)
		s.shown = s.lister != nil && cfg.Layout.Type == ""
	}
	return s, err
}

// local returns a source of a folder of this machine.
func local(cfg source.Config, b bucket.Bucket, decoder *source.Decoder, now func() time.Time) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fault.New(fault.Internal, cfg.Path, "find the folder: %w", err)
	}
	folder = filepath.ToSlash(folder)
	place := "file://" + transfer.EscapePath(folder) + "/"
	if drive := filepath.VolumeName(folder); strings.HasSuffix(drive, ":") { // of Windows
		place = "file:///" + drive + transfer.EscapePath(folder[len(drive):]) + "/"
	}
	s := &Source{
		cfg: cfg.Defaults(), bucket: b, decoder: decoder, now: now, label: cfg.ID, root: folder, place: place, key: place,
		shelf: source.NewShelf(indexRoom, now, slog.New(slog.DiscardHandler)), wait: indexWait,
	}
	s.cfg.Layout.Type = cmp.Or(s.cfg.Layout.Type, source.Native)
	s.index = source.NewIndex(s.cfg, s.shelf, s.read)
	return s, nil
}

// NewGuarded is New for a folder that a request names.
func NewGuarded(cfg source.Config, b bucket.Bucket, decoder *source.Decoder, now func() time.Time) (*Source, error) {
	s, err := local(cfg, b, decoder, now)
	if err == nil {
		s.label = source.RequestLabel
	}
	return s, err
}

// read writes a file that is not of a module.
func (s *Source) read(ctx context.Context, path string, w io.Writer) error {
	_, err := s.Fetch(ctx, source.Candidate{Path: path}, w)
	return err
}

// ID returns the name of the source.
func (s *Source) ID() string { return s.cfg.ID }

// Host returns the host of the object store; it is empty for a folder of this machine.
func (s *Source) Host() string {
	if s.far == nil {
		return ""
	}
	return s.far.Host
}

// Identity returns the identity of the folder and the filters.
func (s *Source) Identity() string {
	text := s.key + " " + s.cfg.Asks()
	if s.shown {
		text += " recognised"
	}
	return text
}

// Candidates returns the places of the files of m.
func (s *Source) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	var list []source.Candidate
	var base uint64
	in, partly := &folder{}, error(nil)
	if s.shown {
		if in, partly = s.contents(ctx); in == nil {
			return nil, partly
		}
	}
	m, err := s.complete(m, in)
	partly = cmp.Or(err, partly)
	if s.cfg.Layout.Type == source.Elastic && m.FileID.IsZero() {
		m.FileID, base = s.alias(ctx, m)
	}
	tiers := 0 // not looked for yet
	for _, kind := range kinds {
		paths := s.cfg.Paths(m, kind)
		if s.cfg.Wants(m, kind) {
			paths = in.add(paths, m, kind)
		}
		if s.far == nil && s.cfg.Layout.Type == source.Native && source.Caseless(kind) && len(paths) > 0 {
			if tiers == 0 {
				tiers = s.tiers(ctx)
			}
			for _, path := range paths[:len(paths)*(tiers-1)] {
				if below := source.TwoTier(path); below != "" {
					paths = append(paths, below)
				}
			}
		}
		for _, path := range paths {
			c := s.candidate(kind, path)
			if base != 0 {
				c.Base, c.Key = base, c.Key+fmt.Sprintf(" from %#x", base)
			}
			list = append(list, c)
		}
	}
	if list = append(list, s.named(in, m, kinds)...); len(list) == 0 {
		return nil, cmp.Or(partly, s.cfg.Unasked(m, kinds))
	}
	list, err = s.index.Only(ctx, list)
	return list, cmp.Or(err, partly)
}

func (s *Source) candidate(kind, path string) source.Candidate {
	return source.Candidate{
		Source: s.cfg.ID, Kind: kind, Location: s.location(path), Key: s.key + transfer.EscapePath(path),
		Public: s.cfg.IsPublic, Local: s.far == nil, Path: path,
	}
}

// alias finds the file that a module without a file id is known to be.
func (s *Source) alias(ctx context.Context, m ident.Module) (ident.FileID, uint64) {
	for _, path := range source.AliasPaths(m) {
		r, _, err := s.bucket.Get(ctx, path, 0, maxAlias)
		if err != nil {
			continue // most files are nowhere
		}
		var a source.Alias
		err = json.NewDecoder(r).Decode(&a)
		_ = r.Close() // it is read
		if err == nil {
			return a.FileID, a.Base
		}
	}
	return ident.FileID{}, 0
}

// tiers returns two if the folder has a file index2.txt, or else one.
func (s *Source) tiers(ctx context.Context) int {
	if s.written(ctx, source.Index2) != "" {
		return 2
	}
	return 1
}

// speller is a bucket that returns the key that equals a given one when case is
// ignored, or "".
type speller interface{ Spell(key string) string }

// written returns the name of a file as in the bucket, or "".
func (s *Source) written(ctx context.Context, path string) string {
	if _, err := s.bucket.Stat(ctx, path); err == nil {
		return path
	}
	if b, ok := s.bucket.(speller); ok {
		return b.Spell(path)
	}
	return ""
}

func (s *Source) location(path string) string { return s.place + transfer.EscapePath(path) }

// Fetch writes the file of c to w.
func (s *Source) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	start := s.now()
	var a source.Attempt
	var err error
	if s.far != nil {
		a, err = s.fetchFar(ctx, c, w)
	} else {
		a, err = s.fetch(ctx, c, w)
	}
	a.Time = s.now().Sub(start)
	source.Count(s.label, a, err)
	return a, err
}

func (s *Source) fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	path := c.Path
	if source.Caseless(c.Kind) {
		path = cmp.Or(s.written(ctx, path), path)
	}
	a := source.Attempt{URL: s.location(path)}
	for _, suffix := range siblings {
		r, attrs, err := s.bucket.Get(ctx, path+suffix, 0, -1)
		if err != nil && fault.KindOf(err) == fault.NotFound {
			continue
		}
		a.URL = s.location(path + suffix)
		if errors.Is(err, bucket.ErrLink) && s.label != source.RequestLabel {
			return a, linkError(a.URL)
		}
		if err != nil {
			return a, at(a.URL, err)
		}
		if attrs.Version != "" {
			a.Validator = attrs.Version + suffix
		}
		if a.Same = a.Validator != "" && a.Validator == c.Validator; a.Same {
			_ = r.Close() // the bytes are not needed
			return a, nil
		}
		out, err := s.decoder.Decode(ctx, w, r, attrs.Encoding)
		a.Wire, a.Bytes = out.Wire, out.Bytes
		_ = r.Close() // it was only read
		if err != nil {
			return a, at(a.URL, err)
		}
		return a, nil
	}
	return a, fault.New(fault.NotFound, a.URL, "no such file")
}

// linkError returns the refusal of a path through a link out of the folder.
func linkError(place string) error {
	return fault.New(fault.Denied, place, "%w; follow_symlinks of the source would allow that", bucket.ErrLink)
}

// at returns err as a fault of this place. An error of reading without a kind is
// of kind Transport.
func at(place string, err error) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return &fault.Error{Kind: f.Kind, Place: place, Detail: f.Detail, Status: f.Status, Cause: f.Cause}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.KindOf(err), place, "%w", err)
	}
	return fault.New(fault.Transport, place, "read: %w", err)
}
