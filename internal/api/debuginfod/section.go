package debuginfod

import (
	"context"
	"io"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/elf"
	"symbolon/internal/token"
)

// part is a part of a file as a file of its own.
type part struct {
	bin.Source
	info  api.FileInfo
	whole io.Closer // nil: it is in memory
}

// Info returns the name of the file and the tag of the part.
func (p *part) Info() api.FileInfo { return p.info }

// Frames returns nil: a part is not stored by itself.
func (p *part) Frames() (io.ReadSeeker, int64) { return nil, 0 }

// Close closes the file.
func (p *part) Close() error {
	if p.whole == nil {
		return nil
	}
	return p.whole.Close()
}

var (
	errMissing = fault.New(fault.NotFound, "", "the file has no such section")
	errNoBits  = fault.New(fault.NotFound, "", "the section has no bytes in the file")
)

// section cuts a section from the debug file, or from the program if there is no debug
// file, or if the section has no bytes there.
func (d *Door) section(ctx context.Context, g *token.Grant, id, name string) (api.File, error) {
	s, err := d.cut(ctx, g, id, "debuginfo", name)
	if err == errNoBits || err != errMissing && fault.KindOf(err) == fault.NotFound {
		s, err = d.cut(ctx, g, id, "executable", name)
	}
	return s, err
}

func (d *Door) cut(ctx context.Context, g *token.Grant, id, word, name string) (api.File, error) {
	f, err := d.open(ctx, g, id, word)
	if err != nil {
		return nil, err
	}
	s, err := cut(f, name)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	return s, nil
}

// errSource keeps the error of a read, so that a file that cannot be read is not taken
// for one of another format.
type errSource struct {
	bin.Source
	err error
}

func (s *errSource) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.Source.ReadAt(p, off)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// cut returns a section of f, which the part closes. It reads the headers only.
func cut(f api.File, name string) (*part, error) {
	in := &errSource{Source: f}
	file, err := elf.OpenHeaders(in)
	if in.err != nil {
		return nil, fault.New(fault.Internal, f.Info().Key, "%w", in.err)
	}
	if err != nil {
		return nil, err
	}
	for i := range file.Sections {
		s := &file.Sections[i]
		if s.Name != name || name == "" {
			continue
		}
		if s.Type == elf.SectionNoBits || s.Size == 0 {
			return nil, errNoBits
		}
		if s.Off > uint64(f.Size()) || s.Size > uint64(f.Size())-s.Off {
			return nil, fault.New(fault.Malformed, name, "the section is not in the file")
		}
		info := f.Info()
		if info.Tag != "" {
			info.Tag += "-" + name
		}
		return &part{bin.Section(f, int64(s.Off), int64(s.Size)), info, f}, nil
	}
	return nil, errMissing
}
