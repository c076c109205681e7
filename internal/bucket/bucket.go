// Package bucket is named blobs: what object stores, folders and memory have
// in common. The root of the family holds the contract and the pure helpers of
// its children; buckettest holds the tests that every child must pass.
//
// A blob is whole or absent: a Put that fails, is cancelled or dies leaves
// what was there before. A Put of a key that exists replaces its blob, unless
// it asks otherwise, and readers of the old one finish undisturbed; of two Puts
// at one time, one wins.
// Blobs are stored and returned as they are: Encoding says in which coding,
// nobody here decodes.
//
// Failures are *fault.Error. A missing key is NotFound; a key that Check
// refuses is Malformed; what this child of the family cannot keep is
// Unsupported. When the context ended, the failure wraps its error.
package bucket

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"symbolon/internal/fault"
)

// Attrs is what is known of a blob besides its bytes.
type Attrs struct {
	Size     int64  // of the whole blob; in a Put, zero means that it is not known yet
	Encoding string // content coding of the stored bytes ("gzip"), empty: none
	Version  string // tells this blob from others of its key, where the store knows such a thing; ignored in a Put
	IfAbsent bool   // in a Put: a blob that is there already stays, and that is no failure
}

// Bucket keeps blobs by key. It is safe for concurrent use.
//
// Get reads n bytes from offset off on, to the end when n is negative. A range
// is cut at the end of the blob, so one that starts there or later is empty.
// The Attrs are those of the whole blob. ctx also governs the reading.
//
// Put stores what r has. A Size in a that is not what r has is refused, unless
// IfAbsent spares the reading of r. Put returns when the Read under way has
// returned, if ctx ends meanwhile.
//
// Delete takes a blob away; that there is none is no failure.
type Bucket interface {
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, Attrs, error)
	Put(ctx context.Context, key string, r io.Reader, a Attrs) error
	Stat(ctx context.Context, key string) (Attrs, error)
	Delete(ctx context.Context, key string) error
}

// ErrLink is why a file is denied that is a symbolic link to elsewhere.
var ErrLink = errors.New("a symbolic link leads out of the folder")

// MaxKey is the length in bytes up to which every object store takes a key.
const MaxKey = 1024

// Check refuses what is not a key. Keys are segments separated by slashes, in
// UTF-8, without NUL and backslash. No segment is empty, "." or "..", so a key
// can neither leave its bucket nor be spelled in two ways.
func Check(key string) error {
	refuse := func(why string) error {
		return fault.New(fault.Malformed, "", "key %.80q %s", key, why)
	}
	switch {
	case len(key) > MaxKey:
		return refuse("is too long")
	case !utf8.ValidString(key):
		return refuse("is not UTF-8")
	case strings.ContainsAny(key, "\x00\\"):
		return refuse("has a NUL or a backslash")
	}
	for segment := range strings.SplitSeq(key, "/") {
		switch segment {
		case "":
			return refuse("has an empty segment")
		case ".", "..":
			return refuse("has a relative segment")
		}
	}
	return nil
}

// Cut is the range of a blob of size bytes that off and n of a Get stand for.
func Cut(off, n, size int64) (from, length int64) {
	from = min(max(off, 0), size)
	length = size - from
	if n >= 0 {
		length = min(length, n)
	}
	return from, length
}

// Begin is how every method of a child begins: it refuses what Check refuses
// and a context that has ended.
func Begin(ctx context.Context, key string) error {
	if err := Check(key); err != nil {
		return err
	}
	return ended(ctx)
}

func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), "", "%w", err)
	}
	return nil
}

// Bound is r, failing once ctx has ended.
func Bound(ctx context.Context, r io.Reader) io.Reader { return &bound{ctx, r} }

type bound struct {
	ctx context.Context
	r   io.Reader
}

func (b *bound) Read(p []byte) (int, error) {
	if err := ended(b.ctx); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

// Copy is the body of a Put: it copies r to w until r ends, ctx ends, or the
// size is not the one that a promises. It returns the number of bytes. A
// failure of r is returned as it came.
func Copy(ctx context.Context, w io.Writer, r io.Reader, a Attrs) (int64, error) {
	r = Bound(ctx, r)
	if a.Size > 0 {
		r = io.LimitReader(r, a.Size+1)
	}
	n, err := io.Copy(w, r)
	if err == nil {
		err = promised(a, n)
	}
	if err == nil {
		err = ended(ctx)
	}
	return n, err
}

// promised refuses a body of n bytes if a promises another size.
func promised(a Attrs, n int64) error {
	if a.Size > 0 && n != a.Size {
		return fault.New(fault.Malformed, "", "the body does not have the %d bytes that were promised", a.Size)
	}
	return nil
}
