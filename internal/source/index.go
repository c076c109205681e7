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
	indexName   = "index" // on the shelf
	indexLife   = 24 * time.Hour
	indexRetry  = 10 * time.Minute // after a failure, and the least between two readings
	indexTime   = 30 * time.Minute // to read one
	maxSegments = 10_000
	maxLastID   = 20        // bytes of lastid.txt
	maxListing  = 512 << 20 // bytes of all segments
	maxListed   = 8 << 20   // files
	maxLine     = 4 << 10   // bytes; what is longer names no file
)

// Read writes a file of a source to w, by its path.
type Read func(ctx context.Context, path string, w io.Writer) error

// Index knows which files a store of the layout symstore has, from the list
// that such stores keep in the folder 000Admin. A store whose list cannot be
// read has nothing until it can. It is safe for concurrent use.
type Index struct {
	shelf  *Shelf
	owner  any
	source string
	read   Read
}

// NewIndex is the index of a source, which its configuration may have none of:
// then it is nil.
func NewIndex(c Config, shelf *Shelf, read Read) *Index {
	if !c.indexed() {
		return nil
	}
	x := &Index{shelf: shelf, source: c.ID, read: read}
	if x.owner = x; c.IsPublic { // others that are the same have the same list
		x.owner = c.Fingerprint()
	}
	return x
}

// Only leaves those candidates that the index lists. Without an index these are
// all.
func (x *Index) Only(ctx context.Context, list []Candidate) ([]Candidate, error) {
	if x == nil || len(list) == 0 {
		return list, nil
	}
	known, err := Keep(ctx, x.shelf, Wish[*listing]{
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

// listing is the files of a store. Of their paths only hashes are kept: two of
// one hash cost a request for a file that is not there.
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
	for n := 1; n <= segments; n++ { // one after the other: servers do not like it otherwise
		if err := x.read(ctx, fmt.Sprintf("000Admin/%010d", n), in); err != nil {
			return nil, 0, err
		}
		in.end()
	}
	slices.Sort(in.files)
	in.files = slices.Clip(slices.Compact(in.files))
	return in.listing, int64(8 * len(in.files)), nil
}

// segments is how many parts the list has.
func (x *Index) segments(ctx context.Context) (int, error) {
	const place = "000Admin/lastid.txt"
	text := &Text{Max: maxLastID}
	if err := x.read(ctx, place, text); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text.Bytes)), 10, 32)
	if err != nil {
		return 0, fault.New(fault.Malformed, place, "it is not a number")
	}
	if n > maxSegments {
		return 0, fault.New(fault.Malformed, place, "an index of more than %d parts", maxSegments)
	}
	return int(n), nil
}

// indexReader takes files out of the lines of segments. What is no such line is
// passed over.
type indexReader struct {
	*listing
	line []byte // the beginning of one whose end has not come yet
	long bool   // it is too long to be one
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

// end takes the line that has come: "name\id", and whatever follows.
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
