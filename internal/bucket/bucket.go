// Package bucket defines named blobs: the common contract of object stores,
// folders and memory. The root of the family has the contract and the helpers
// of its implementations; buckettest has the tests that every implementation
// must pass.
//
// A blob is complete or absent: a Put that fails, is cancelled or crashes does
// not change the previous blob. A Put of an existing key replaces its blob, and
// open readers of the old blob are not affected; of two concurrent Puts, one wins.
// A Put with IfAbsent is a conditional create: it stores a blob only if the key
// does not exist, and of concurrent ones exactly one creates the key. Blobs are stored and returned unchanged:
// Encoding states their content coding, but the bucket does not decode them.
//
// A blob is durable when its Put returns, unless the Put has Later: then a crash of the
// system may lose or damage the blob until a later Put without Later has returned. A Put
// without Later first makes all blobs durable that were stored through this Bucket before
// it, including those that a Put with Later found to exist, and then its own. So storing
// many blobs and then the one that refers to them costs as much as one durable Put.
//
// Failures are *fault.Error. A missing key is NotFound; a key that Check
// rejects is Malformed; a blob that the implementation cannot store is
// Unsupported, and so is a conditional create where that is not possible
// (ErrConditions). When the context has ended, the error wraps its error.
package bucket

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"unicode/utf8"

	"symbolon/internal/fault"
)

// Attrs describes a blob.
type Attrs struct {
	Size     int64  // of the whole blob; in a Put, zero means unknown
	Encoding string // content coding of the stored bytes ("gzip"), empty: none
	Version  string // identifies the content among the blobs of a key, if the store has versions; ignored in a Put
	IfAbsent bool   // in a Put: create the key, keep an existing blob
	Later    bool   // in a Put: the blob becomes durable with the next Put that does not have it
}

// Bucket stores blobs by key. It is safe for concurrent use.
//
// Get reads n bytes from offset off on, to the end if n is negative. A range is
// truncated to the blob, so one that starts at its end or later is empty. The
// Attrs are those of the whole blob. ctx also applies to the reader.
//
// Put stores the content of r and reports whether it did. It returns false without an
// error if IfAbsent is set and the key exists, and also if an earlier try of the same Put
// created the key and the answer was lost; a caller that must know compares contents. Put
// fails if a.Size is not the size of r, unless IfAbsent makes reading r unnecessary. If
// ctx ends during a Read of r, Put returns after that Read.
//
// Delete removes a blob. A missing key is not an error.
//
// List returns the keys that begin with prefix and are greater than after, in the
// order of their bytes: at most n of them and at most MaxPage, and at least one if
// there are any. It reports whether there are more; the next page is after the last
// key of this one. Prefix and after need not be keys. Keys that Check
// rejects are skipped. A key that is created or deleted while pages are read may
// be missing or listed; each other key is listed once.
type Bucket interface {
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, Attrs, error)
	Put(ctx context.Context, key string, r io.Reader, a Attrs) (created bool, err error)
	Stat(ctx context.Context, key string) (Attrs, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix, after string, n int) (keys []string, more bool, err error)
}

// IsFull reports whether an error means that a disk is full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// ErrNoBucket means that a store does not have the bucket, and not only the key. Its
// text is the code of S3.
var ErrNoBucket = errors.New("NoSuchBucket")

// ErrLink means that a file is a symbolic link out of its folder.
var ErrLink = errors.New("a symbolic link leads out of the folder")

// MaxKey is the largest length in bytes of a key that every object store
// accepts.
const MaxKey = 1024

// Check returns an error if key is invalid. Keys are segments separated by
// slashes, in UTF-8, without NUL and backslash. No segment may be empty, "." or
// "..", so that a key cannot leave its bucket and has one spelling.
func Check(key string) error {
	refuse := func(reason string) error {
		return fault.New(fault.Malformed, "", "invalid key %.80q: %s", key, reason)
	}
	switch {
	case len(key) > MaxKey:
		return refuse("must have at most 1024 bytes")
	case !utf8.ValidString(key):
		return refuse("must be UTF-8")
	case strings.ContainsAny(key, "\x00\\"):
		return refuse("must not contain NUL or backslash")
	}
	for segment := range strings.SplitSeq(key, "/") {
		switch segment {
		case "":
			return refuse("must not have an empty segment")
		case ".", "..":
			return refuse("must not have a relative segment")
		}
	}
	return nil
}

// Cut returns the range of a blob of size bytes for the off and n of a Get.
func Cut(off, n, size int64) (from, length int64) {
	from = min(max(off, 0), size)
	length = size - from
	if n >= 0 {
		length = min(length, n)
	}
	return from, length
}

// Begin checks the arguments of every method: it returns the error of Check, or
// that of a context that has ended.
func Begin(ctx context.Context, key string) error {
	if err := Check(key); err != nil {
		return err
	}
	return Ended(ctx)
}

// Ended returns the failure of a context that has ended, nil before.
func Ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), "", "%w", err)
	}
	return nil
}

// Bound returns a reader of r that fails after ctx has ended.
func Bound(ctx context.Context, r io.Reader) io.Reader { return &bound{ctx, r} }

type bound struct {
	ctx context.Context
	r   io.Reader
}

func (b *bound) Read(p []byte) (int, error) {
	if err := Ended(b.ctx); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

// Copy implements the body of a Put: it copies r to w until r ends, ctx ends,
// or the size differs from a.Size. It returns the number of bytes. An error of
// r is returned unchanged.
func Copy(ctx context.Context, w io.Writer, r io.Reader, a Attrs) (int64, error) {
	r = Bound(ctx, r)
	if a.Size > 0 {
		r = io.LimitReader(r, a.Size+1)
	}
	n, err := io.Copy(w, r)
	if err == nil {
		err = checkSize(a, n)
	}
	if err == nil {
		err = Ended(ctx)
	}
	return n, err
}

// checkSize returns an error if a.Size is set and is not n.
func checkSize(a Attrs, n int64) error {
	if a.Size > 0 && n != a.Size {
		return fault.New(fault.Malformed, "", "the body does not have the declared size of %d bytes", a.Size)
	}
	return nil
}
