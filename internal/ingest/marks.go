package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// The marks that may be beside the parts of a generation. Each has the time of what
// was marked last, and is void when that expired.
const (
	contested = "contested" // two parts for one place differed
	repeated  = "repeated"  // a part was taken for one of what is published, and is not held
	anew      = "anew"      // that was wrong perhaps: all parts are held
)

const maxNear = 16 // places that are looked at for other parts

// marked is when something was marked, zero if it was not.
func (g generation) marked(ctx context.Context, name string) (time.Time, error) {
	text, err := g.line(ctx, g.folder()+name)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	var mark struct {
		Last int64 `json:"last"`
	}
	if json.Unmarshal(text, &mark) != nil {
		return time.Time{}, nil
	}
	at := time.UnixMilli(mark.Last)
	if g.deps.Now().Sub(at) > g.cfg.Expiry {
		return time.Time{}, nil
	}
	return at, nil
}

func (g generation) mark(ctx context.Context, name string, at time.Time) error {
	text := fmt.Appendf(nil, `{"last":%d}`+"\n", at.UnixMilli())
	return g.deps.Bucket.Put(ctx, g.folder()+name, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))})
}

// unmark removes the marks that are not younger than the parts that are published
// now. It comes before they are: a repetition of them is marked later.
func (g generation) unmark(ctx context.Context, heads []head) error {
	last := int64(0)
	for k := range heads {
		last = max(last, heads[k].Received)
	}
	for _, name := range [...]string{contested, repeated, anew} {
		at, err := g.marked(ctx, name)
		if err == nil && !at.IsZero() && at.UnixMilli() <= last {
			err = g.deps.Bucket.Delete(ctx, g.folder()+name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contest notes that uploads have met, and is the refusal of the part that shows it.
func (g generation) contest(ctx context.Context, k int) error {
	if err := g.mark(ctx, contested, g.deps.Now()); err != nil {
		return err
	}
	return g.conflict(k, fmt.Sprintf("another upload of the same file, with other contents, is under way; begin anew when it was quiet for %v", quiet))
}

func (g generation) conflict(k int, text string) error {
	return refuse(Conflict, fmt.Sprintf("part %d of %d", k, g.count), "%s", text)
}

// inOrder refuses a part of a generation in which uploads have met, unless the one
// before it is held: it is of an upload that was under way then, more likely than of
// one that began anew.
func (s *state) inOrder(ctx context.Context, k int) error {
	if k == 0 || s.contested.IsZero() {
		return nil
	}
	h, err := s.g.look(ctx, k-1)
	if err != nil || s.counts(k-1, h) {
		return err
	}
	return s.g.conflict(k, "uploads of the same file, with other contents, have met; begin anew with part 0, and send the parts in order")
}

// again tells whether a part with the head h at the place k is one of what is
// published, the answer to which was lost. It may be one that a new upload has in
// common with that, and is not if others are held. If none is, the part is not held
// either, and that is marked, for the parts that come later.
//
// The mark comes before the look at the others, as a part is held before its look
// at the mark: of two at one time, one sees the other. The places next to k are
// enough for that. Of an upload that is complete, and no part of which has seen the
// mark, all that are held were so before the first one that is not; of which one is
// next to one that is held, and has seen it.
func (s *state) again(ctx context.Context, k int, h *head) (bool, error) {
	i, g := s.info, s.g
	switch {
	case i == nil || i.Parts != g.count || i.Upload != g.upload || !i.has(k, h.Sum) || !i.agrees(h):
		return false, nil
	case !s.contested.IsZero(), !g.named() && s.now.Sub(i.Published) >= quiet:
		return false, nil
	}
	at, err := g.marked(ctx, anew)
	if err != nil || !at.IsZero() {
		return false, err
	}
	if near, err := s.near(ctx, k, h.Sum); err != nil || near {
		return false, err
	}
	if err := g.mark(ctx, repeated, s.stamp()); err != nil {
		return false, err
	}
	near, err := s.near(ctx, k, h.Sum)
	return err == nil && !near, err
}

// near tells whether a part close to the place k is held, or another one than sum at
// this place.
func (s *state) near(ctx context.Context, k int, sum Sum) (bool, error) {
	first := max(0, min(k-maxNear/2, s.g.count-maxNear))
	for j := first; j < min(first+maxNear, s.g.count); j++ {
		h, err := s.g.look(ctx, j)
		if err != nil || s.counts(j, h) && (j != k || h.Sum != sum) {
			return err == nil, err
		}
	}
	return false, nil
}

// begins refuses the part k, which is held now, if others of its upload were taken
// for repetitions perhaps, and sees to it that they are held when they come again.
// Nor is it left for other uploads. If it is the first one, and nothing was marked
// for long when it began to come, an upload begins with it.
func (s *state) begins(ctx context.Context, k int, h *head, began time.Time) error {
	last, err := s.g.marked(ctx, repeated)
	if err != nil || last.IsZero() {
		return err
	}
	since, err := s.g.marked(ctx, anew)
	if err != nil || !since.IsZero() {
		return err
	}
	if err := s.g.mark(ctx, anew, s.now); err != nil || k == 0 && began.Sub(last) >= quiet {
		return err
	}
	if err := s.g.take(ctx, k, h); err != nil {
		return err
	}
	return s.g.conflict(k, "parts of this upload were taken for a repetition of what is published; begin anew with part 0")
}
