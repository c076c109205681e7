package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const maxHead = 1 << 10 // bytes of the line of a part

// put stores a part, and reports whether it did.
func (r round) put(ctx context.Context, k int, d *Draft, ifAbsent bool) (created bool, err error) {
	line, err := d.line()
	if err != nil {
		return false, err
	}
	line = append(line, '\n')
	return r.deps.Bucket.Put(ctx, r.part(k), io.MultiReader(bytes.NewReader(line), d.body()), bucket.Attrs{Size: int64(len(line)) + d.spool.Size(), IfAbsent: ifAbsent})
}

// look reads the description of the part k, nil if it is missing.
func (r round) look(ctx context.Context, k int) (*Part, error) {
	text, err := r.read(ctx, r.part(k), 0, maxHead)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	p := &Part{}
	p.Line, _, _ = bytes.Cut(text, []byte{'\n'})
	if err := json.Unmarshal(p.Line, &p.Head); err != nil {
		return nil, fault.New(fault.Malformed, r.part(k), "%w", err)
	}
	return p, nil
}

// errEnough ends a scan.
var errEnough = errors.New("a part ends the scan")

// scan reads the descriptions of the parts until enough returns true, and reports
// whether it did. It begins next to the place k: clients send parts in order, up or
// down, or side by side, so a missing part is most often close to the last one.
func (r round) scan(ctx context.Context, k int, enough func(*Part) bool) (parts []*Part, isEnough bool, err error) {
	parts = make([]*Part, r.Count)
	err = bucket.Each(r.Count, func(i int) error {
		at := k - i/2
		if i%2 == 1 {
			at = k + (i+1)/2
		}
		at = (at + r.Count) % r.Count
		p, err := r.look(ctx, at)
		if err == nil && enough(p) {
			err = errEnough
		}
		parts[at] = p
		return err
	})
	if errors.Is(err, errEnough) {
		return nil, true, nil
	}
	return parts, false, err
}

// place names a part in messages.
func (r round) place(k int) string { return fmt.Sprintf("part %d of %d", k, r.Count) }
