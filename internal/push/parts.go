package push

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"

	"symbolon/internal/extract"
	format "symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/scratch"
)

// image is a pushed file with its parts.
type image struct {
	name  string
	id    ident.FileID
	build ident.BuildID
	base  uint64
	sets  [2]*partSet // ranges, return pads
}

// partSet has the ranges or the return pads of a file as consecutive parts of a temporary
// file.
type partSet struct {
	kind    string // in file names and responses
	route   string // the last element of the path on the server
	file    *os.File
	parts   []part
	records int64
	size    int64
	content [sha256.Size]byte // the hash of the hashes of the parts
}

// part is the content of one request.
type part struct {
	off, size int64
	sum       [sha256.Size]byte
}

func (s *partSet) body(n int) *io.SectionReader {
	return io.NewSectionReader(s.file, s.parts[n].off, s.parts[n].size)
}

// contentText returns the content hash as the protocol writes it.
func (s *partSet) contentText() string { return fmt.Sprintf("%x", s.content) }

func (s *partSet) describe(isKnown bool) *Set {
	return &Set{Content: s.contentText(), Records: s.records, Parts: len(s.parts), Size: s.size, Known: isKnown}
}

// fill cuts a symbfile into parts, which it writes to the file name.
func (s *partSet) fill(ctx context.Context, raw *os.File, name string, size int) (err error) {
	whole := func() io.Reader { return bufio.NewReaderSize(io.NewSectionReader(raw, 0, math.MaxInt64), 1<<16) }
	if err := extract.EachRecord(ctx, format.NewReader(whole()), func(format.Record) error { s.records++; return nil }); err != nil {
		return err
	}
	if s.file, err = os.Create(name); err != nil {
		return err
	}
	out := bufio.NewWriterSize(s.file, 1<<16)
	_, err = extract.Split(ctx, whole(), size, func(n int) (io.WriteCloser, error) {
		if n >= symbfile.MaxParts {
			return nil, fmt.Errorf("more than %d parts; raise --part-size", symbfile.MaxParts)
		}
		return &partWriter{set: s, out: out, sum: sha256.New()}, nil
	})
	if err = errors.Join(err, out.Flush()); err != nil {
		return errors.Join(err, s.file.Close())
	}
	all := sha256.New()
	for _, p := range s.parts {
		all.Write(p.sum[:])
	}
	s.content = [sha256.Size]byte(all.Sum(nil))
	return nil
}

// partWriter writes a part and appends it to a set.
type partWriter struct {
	set  *partSet
	out  *bufio.Writer
	sum  hash.Hash
	size int64
}

// Write writes to the file of the set.
func (w *partWriter) Write(b []byte) (int, error) {
	w.sum.Write(b)
	w.size += int64(len(b))
	return w.out.Write(b)
}

// Close appends the part.
func (w *partWriter) Close() error {
	w.set.parts = append(w.set.parts, part{off: w.set.size, size: w.size, sum: [sha256.Size]byte(w.sum.Sum(nil))})
	w.set.size += w.size
	return nil
}

func (x *image) close() (err error) {
	for _, s := range x.sets {
		if s != nil {
			err = errors.Join(err, s.file.Close())
		}
	}
	return err
}

// keep copies the parts into a folder.
func (x *image) keep(dir string) error {
	dir = filepath.Join(dir, x.id.Base64())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range x.sets {
		for i := range s.parts {
			name := filepath.Join(dir, fmt.Sprintf("%s.%dof%d.symbfile", s.kind, i, len(s.parts)))
			err := scratch.WriteFile(name, func(w io.Writer) error {
				_, err := io.Copy(w, s.body(i))
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
