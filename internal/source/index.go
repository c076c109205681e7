package source

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/fault"
)

const (
	indexName   = "index" // of its item on the shelf
	indexLife   = 24 * time.Hour
	indexRetry  = 10 * time.Minute // after a failure, and the shortest time between two reads
	indexTime   = 30 * time.Minute // to read one
	maxSegments = 10_000
	maxLastID   = 20        // bytes of lastid.txt
	maxListing  = 512 << 20 // bytes of all segments
	maxListed   = 8 << 20   // files
	maxLine     = 4 << 10   // bytes; longer lines do not name a file
)

// Read writes a file of a source to w, by its path.
type Read func(ctx context.Context, path string, w io.Writer) error

// Index lists the files of a store of the layout symstore, as the store does in
// its folder 000Admin. While the list cannot be read the store has no files. It
// is safe for concurrent use.
type Index struct {
	shelf  *Shelf
	owner  any
	source string
	read   Read
}

// NewIndex returns the index of a source, or nil if its configuration has none.
func NewIndex(c Config, shelf *Shelf, read Read) *Index {
	if !c.indexed() {
		return nil
	}
	x := &Index{shelf: shelf, source: c.ID, read: read}
	if x.owner = x; c.IsPublic { // equal sources share the list
		x.owner = c.Fingerprint()
	}
	return x
}

// Only returns the candidates that the index lists, or all without an index.
func (x *Index) Only(ctx context.Context, list []Candidate) ([]Candidate, error) {
	if x == nil || len(list) == 0 {
		return list, nil
	}
	known, err := Keep(ctx, x.shelf, Request[*listing]{
		Owner: x.owner, Source: x.source, Name: indexName, Life: func(*listing) time.Duration { return indexLife },
		Retry: indexRetry, Limit: indexTime, Stale: true, Make: x.load,
	})
	if ctx.Err() != nil && err != nil {
		return nil, err
	}
	if err != nil {
		f := fault.Of(err)
		return nil, fault.New(fault.NotFound, f.Place, "the index of the source cannot be read: %s: %s", f.Kind, f.Detail)
	}
	return slices.DeleteFunc(list, func(c Candidate) bool { return !known.has(c.Path) }), nil
}

// listing is the set of files of a store, as hashes of their paths. A collision
// costs a request for a file that does not exist.
type listing struct {
	seed  maphash.Seed
	files []uint64 // sorted
}

func (l *listing) has(path string) bool {
	_, found := slices.BinarySearch(l.files, maphash.String(l.seed, path))
	return found
}

func (x *Index) load(ctx context.Context) (*listing, int64, error) {
	select {
	case x.shelf.heavy <- struct{}{}:
		defer func() { <-x.shelf.heavy }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	segments, err := x.segments(ctx)
	if err != nil {
		return nil, 0, err
	}
	in := &indexReader{listing: &listing{seed: maphash.MakeSeed()}}
	for n := 1; n <= segments; n++ { // one after the other, to spare the server
		if err := x.read(ctx, fmt.Sprintf("000Admin/%010d", n), in); err != nil {
			return nil, 0, err
		}
		in.end()
	}
	slices.Sort(in.files)
	in.files = slices.Clip(slices.Compact(in.files))
	return in.listing, int64(8 * len(in.files)), nil
}

// segments returns the number of parts of the list.
func (x *Index) segments(ctx context.Context) (int, error) {
	const place = "000Admin/lastid.txt"
	text := &Text{Max: maxLastID}
	if err := x.read(ctx, place, text); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text.Bytes)), 10, 32)
	if err != nil {
		return 0, fault.New(fault.Malformed, place, "not a number")
	}
	if n > maxSegments {
		return 0, fault.New(fault.Malformed, place, "an index of more than %d parts", maxSegments)
	}
	return int(n), nil
}

// indexReader parses the lines of segments. Invalid lines are skipped.
type indexReader struct {
	*listing
	line []byte // an incomplete line
	long bool   // the line is longer than maxLine
	read int64
}

func (r *indexReader) Write(p []byte) (int, error) {
	if r.read += int64(len(p)); r.read > maxListing {
		return 0, fault.New(fault.Malformed, "", "an index of more than %d bytes", maxListing)
	}
	for rest := p; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte("\n"))
		if r.long = r.long || len(r.line)+len(part) > maxLine; !r.long {
			r.line = append(r.line, part...)
		}
		if whole {
			r.end()
		}
		rest = after
		if len(r.files) > maxListed {
			return 0, fault.New(fault.Malformed, "", "an index of more than %d files", maxListed)
		}
	}
	return len(p), nil
}

// end parses a complete line: "name\id" in quotes, and fields that are ignored.
func (r *indexReader) end() {
	line, long := r.line, r.long
	r.line, r.long = r.line[:0], false
	text, quoted := bytes.CutPrefix(line, []byte(`"`))
	text, _, closed := bytes.Cut(text, []byte(`"`))
	name, id, cut := bytes.Cut(text, []byte(`\`))
	if long || !quoted || !closed || !cut || len(name) == 0 || len(id) == 0 {
		return
	}
	path := slices.Concat(name, []byte("/"), id, []byte("/"), name)
	r.files = append(r.files, maphash.Bytes(r.seed, path))
}
