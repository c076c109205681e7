package extract

import (
	"context"
	"errors"
	"io"

	"symbolon/internal/format/symbfile"
)

// Split writes the records of a symbfile to several files of about size bytes
// that can be read alone. A function stays together with the calls
// inlined into it. create returns the writer of a part, which Split closes.
// After an error the parts are incomplete.
func Split(ctx context.Context, r io.Reader, size int, create func(part int) (io.WriteCloser, error)) (parts int, err error) {
	s := splitter{create: create, seen: map[string]bool{}}
	defer func() { err = errors.Join(err, s.end()) }()
	in := symbfile.NewReader(r)
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return s.parts, context.Cause(ctx)
		}
		rec, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && s.parts == 0:
			return 1, s.begin()
		case errors.Is(err, io.EOF):
			return s.parts, nil
		case err != nil:
			return s.parts, err
		}
		first := rec.Pad != nil || rec.Range.Depth == 0
		if s.w == nil || first && s.size >= size {
			if err := errors.Join(s.end(), s.begin()); err != nil {
				return s.parts, err
			}
		}
		if err := s.add(rec); err != nil {
			return s.parts, err
		}
	}
}

// splitter is the state of Split.
type splitter struct {
	create func(part int) (io.WriteCloser, error)
	out    io.WriteCloser
	w      *symbfile.Writer
	parts  int
	size   int // estimated bytes of the part
	seen   map[string]bool
}

func (s *splitter) begin() (err error) {
	if s.out, err = s.create(s.parts); err != nil {
		s.out = nil
		return err
	}
	s.w = symbfile.NewWriter(s.out)
	s.parts++
	s.size = 0
	clear(s.seen)
	return nil
}

func (s *splitter) end() error {
	if s.out == nil {
		return nil
	}
	err := errors.Join(s.w.Close(), s.out.Close())
	s.w, s.out = nil, nil
	return err
}

func (s *splitter) add(rec symbfile.Record) error {
	if p := rec.Pad; p != nil {
		s.size += 6
		for i := range p.Frames {
			s.text(p.Frames[i].Func)
			s.text(p.Frames[i].File)
			s.size += 2
		}
		return s.w.Pad(p)
	}
	x := rec.Range
	s.text(x.Func)
	s.text(x.File)
	s.text(x.CallFile)
	s.size += 10 + 3*len(x.Lines)
	return s.w.Range(x)
}

// text adds a string, which is stored once in a part.
func (s *splitter) text(text []byte) {
	if s.size += 3; s.seen[string(text)] {
		return
	}
	s.seen[string(text)] = true
	s.size += len(text)
}
