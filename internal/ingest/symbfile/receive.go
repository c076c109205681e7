package symbfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
)

const magic = "symbfile"

// note is stored with a part.
type note struct {
	Cut     int64         `json:"cut,omitempty"` // bytes that are not stored
	Ranges  int64         `json:"ranges"`
	Pads    int64         `json:"pads"`
	Raw     bool          `json:"raw,omitempty"` // verified with the other parts only
	BuildID ident.BuildID `json:"build_id,omitempty"`
	Base    *uint64       `json:"base,omitempty"`
}

// head describes a stored part.
type head struct {
	ingest.Head
	note
}

// readHeads reads the descriptions of all parts.
func readHeads(parts []*ingest.Part) ([]*head, error) {
	heads := make([]*head, len(parts))
	for k, p := range parts {
		heads[k] = &head{}
		if err := json.Unmarshal(p.Line, heads[k]); err != nil {
			return nil, fault.New(fault.Malformed, fmt.Sprintf("part %d", k), "%w", err)
		}
	}
	return heads, nil
}

// receive receives a part and verifies it, as far as that is possible without the
// others.
func (s *Store) receive(ctx context.Context, p Part, body io.Reader) (*ingest.Draft, error) {
	n := &note{BuildID: p.BuildID, Base: p.Base}
	place := fmt.Sprintf("part %d of %d", p.Index, p.Count)
	d, err := s.parts.Receive(ctx, place, body, func(t *ingest.Tee) error { return s.read(n, p, place, t) })
	if err != nil {
		return nil, err
	}
	d.Note = n
	return d, nil
}

// read reads a part into n.
func (s *Store) read(n *note, p Part, place string, t *ingest.Tee) error {
	begin, err := t.Peek(len(magic))
	switch {
	case len(begin) == 0 && err == io.EOF:
		return ingest.Refuse(ingest.Malformed, place, "it is empty")
	case p.Index > 0 && err != nil && err != io.EOF:
		return err
	case p.Index > 0 && string(begin) != magic:
		n.Raw = true
		_, err := io.Copy(io.Discard, t)
		return err
	}
	r := symbfile.NewReader(t)
	r.Strict = true
	if p.Index > 0 {
		t.Hold()
	}
	from, err := r.Begin()
	if err == nil && p.Index > 0 {
		n.Cut = from
		err = t.Release(from)
	}
	if err == nil {
		err = s.readRecords(r, p.Kind, n)
	}
	if p.Index == 0 && p.Count > 1 && errors.Is(err, symbfile.ErrCut) {
		n.Raw = true // so the others must continue it
		return nil
	}
	return err
}

// readRecords reads all records and counts them in n.
func (s *Store) readRecords(r *symbfile.Reader, k Kind, n *note) error {
	for {
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case rec.Range != nil:
			n.Ranges++
		default:
			n.Pads++
		}
		if (rec.Range != nil) != (k == Ranges) && !s.cfg.Mixed {
			what := "a return pad among ranges"
			if rec.Range != nil {
				what = "a range among return pads"
			}
			return ingest.Refuse(ingest.WrongKind, fmt.Sprintf("symbfile, at %#x", r.Offset()), "%s", what)
		}
	}
}

// verify reads all parts as one file, if some could not be verified by themselves.
func (s *Store) verify(c *ingest.Complete, k Kind, heads []*head) error {
	isRaw := false
	for _, h := range heads {
		isRaw = isRaw || h.Raw
	}
	if !isRaw {
		return nil
	}
	parts := c.Open()
	defer parts.Close()
	z, err := ingest.NewDecoder(parts)
	if err != nil {
		return fault.New(fault.Internal, "", "%w", err)
	}
	defer z.Close()
	file := symbfile.NewReader(z)
	file.Strict = true
	var sum note
	err = s.readRecords(file, k, &sum)
	var refused *ingest.Refusal
	switch {
	case parts.Err() != nil:
		return parts.Err()
	case errors.As(err, &refused):
		return err
	case err != nil:
		return &ingest.Refusal{Why: ingest.Malformed, Err: fault.Of(err)}
	}
	for _, h := range heads { // counts of parts that begin inside a message are wrong
		h.Ranges, h.Pads = 0, 0
	}
	heads[0].Ranges, heads[0].Pads = sum.Ranges, sum.Pads
	return nil
}
