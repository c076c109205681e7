package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	quiet    = time.Minute // after which uploads that met are over, and an answer is not asked for again
	nobody   = "~"         // an upload that does not tell
	maxHead  = 1 << 10
	maxNear  = 64 // places that are looked at for other parts
	contests = "contested"
)

// generation is the parts that belong together, as far as can be told.
type generation struct {
	*Store
	file   ident.FileID
	kind   Kind
	count  int
	upload string
}

// folder is the prefix of its keys.
func (g generation) folder() string {
	upload := g.upload
	if upload == "" {
		upload = nobody
	}
	return fmt.Sprintf("%s/%s/%s/%d/%s/", Incoming, g.file.Base64(), g.kind, g.count, upload)
}

func (g generation) part(k int) string { return g.folder() + strconv.Itoa(k) }

// state is what decides whether a part counts.
type state struct {
	g         generation
	now       time.Time
	contested time.Time // zero: never
	info      *Info     // nil: nothing is published
}

func (g generation) state(ctx context.Context) (*state, error) {
	s := &state{g: g, now: g.deps.Now()}
	var last struct {
		Last int64 `json:"last"`
	}
	text, err := g.line(ctx, g.folder()+contests)
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
	case err != nil:
		return nil, err
	case json.Unmarshal(text, &last) == nil:
		s.contested = time.UnixMilli(last.Last)
	}
	s.info, err = g.Info(ctx, g.file, g.kind)
	if kind := fault.KindOf(err); err != nil && kind != fault.NotFound && kind != fault.Malformed {
		return nil, err
	}
	return s, nil
}

// line reads a blob up to the end of its first line.
func (g generation) line(ctx context.Context, key string) ([]byte, error) {
	r, _, err := g.deps.Bucket.Get(ctx, key, 0, maxHead)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line, nil
}

// look reads the head of the part k, nil if there is none.
func (g generation) look(ctx context.Context, k int) (*head, error) {
	text, err := g.line(ctx, g.part(k))
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return parseHead(text, g.part(k))
}

func parseHead(text []byte, key string) (*head, error) {
	h := &head{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fault.New(fault.Malformed, key, "%w", err)
	}
	return h, nil
}

// refused tells whether uploads have met, and it was not quiet since.
func (s *state) refused() bool { return s.now.Sub(s.contested) < quiet }

// counts tells whether the part k, which has the head h, counts. It does not if it
// expired, if it came before uploads met, or if it is what is published already.
func (s *state) counts(k int, h *head) bool {
	if h == nil {
		return false
	}
	received := time.UnixMilli(h.Received)
	switch i := s.info; {
	case s.now.Sub(received) > s.g.cfg.Expiry:
		return false
	case received.Before(s.contested.Add(quiet / 2)): // clocks differ; others came later than quiet
		return false
	case i != nil && i.Parts == s.g.count && i.Upload == s.g.upload && i.has(k, h.Sum) && !received.After(i.Published):
		return false
	}
	return true
}

// again tells whether the part k with this sum is one of what is published, the
// answer to which was lost.
func (s *state) again(ctx context.Context, k int, sum Sum) (bool, error) {
	i, g := s.info, s.g
	switch {
	case i == nil || i.Parts != g.count || i.Upload != g.upload || !i.has(k, sum):
		return false, nil
	case g.upload != "":
		return true, nil
	case s.now.Sub(i.Published) >= quiet:
		return false, nil
	}
	// It may be the first part of a new upload, and is not if others are there.
	first := max(0, min(k-maxNear/2, g.count-maxNear))
	for j := first; j < min(first+maxNear, g.count); j++ {
		if j == k {
			continue
		}
		h, err := g.look(ctx, j)
		if err != nil || s.counts(j, h) {
			return false, err
		}
	}
	return true, nil
}

// hold puts a part where it waits for the others. It gives the state in which it is
// held, nil if it is published already.
func (g generation) hold(ctx context.Context, k int, d *draft) (*state, error) {
	for range maxTries {
		s, err := g.state(ctx)
		if err != nil {
			return nil, err
		}
		if s.refused() {
			return nil, g.contest(ctx, k)
		}
		if again, err := s.again(ctx, k, d.head.Sum); err != nil || again {
			return nil, err
		}
		if err := g.put(ctx, k, d); err != nil {
			return nil, err
		}
		h, err := g.look(ctx, k)
		switch {
		case err != nil:
			return nil, err
		case h == nil: // published and removed, just now
		case !s.counts(k, h):
			if err := g.clear(ctx, k); err != nil {
				return nil, err
			}
		case h.Sum != d.head.Sum:
			return nil, g.contest(ctx, k)
		default:
			return g.held(ctx, k, h)
		}
	}
	return nil, fault.New(fault.Transport, g.part(k), "it changes all the time")
}

// put stores a part, unless there is one.
func (g generation) put(ctx context.Context, k int, d *draft) error {
	d.head.Received = g.deps.Now().UnixMilli()
	line, err := json.Marshal(&d.head)
	if err != nil {
		return fault.New(fault.Internal, g.part(k), "%w", err)
	}
	line = append(line, '\n')
	body := io.MultiReader(bytes.NewReader(line), io.NewSectionReader(d.spool, 0, d.spool.Size()))
	return g.deps.Bucket.Put(ctx, g.part(k), body, bucket.Attrs{Size: int64(len(line)) + d.spool.Size(), IfAbsent: true})
}

// held looks whether the part k, which is held now, was published meanwhile, when
// it was sent twice at one time. Then it is not left to be met by another upload.
func (g generation) held(ctx context.Context, k int, h *head) (*state, error) {
	s, err := g.state(ctx)
	if err != nil {
		return nil, err
	}
	if again, err := s.again(ctx, k, h.Sum); err != nil || !again {
		return s, err
	}
	return nil, g.take(ctx, k, h)
}

// clear removes a part that does not count.
func (g generation) clear(ctx context.Context, k int) error {
	unlock, err := g.lock(ctx, g.folder())
	if err != nil {
		return err
	}
	defer unlock()
	s, err := g.state(ctx)
	if err != nil {
		return err
	}
	h, err := g.look(ctx, k)
	if err != nil || h == nil || s.counts(k, h) {
		return err
	}
	return g.deps.Bucket.Delete(ctx, g.part(k))
}

// take removes the part k if it is the one with the head h.
func (g generation) take(ctx context.Context, k int, h *head) error {
	now, err := g.look(ctx, k)
	if err != nil || now == nil || now.Sum != h.Sum || now.Received != h.Received {
		return err
	}
	return g.deps.Bucket.Delete(ctx, g.part(k))
}

// contest notes that uploads have met, and is the refusal of the part that shows it.
func (g generation) contest(ctx context.Context, k int) error {
	text := fmt.Appendf(nil, `{"last":%d}`+"\n", g.deps.Now().UnixMilli())
	err := g.deps.Bucket.Put(ctx, g.folder()+contests, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))})
	if err != nil {
		return err
	}
	return refuse(Conflict, fmt.Sprintf("part %d of %d", k, g.count),
		"another upload of the same file, with other contents, is under way; begin anew when it was quiet for %v", quiet)
}

// whole tells whether all parts are there, behind the part k. Over all parts of an
// upload it looks at each once or twice.
func (g generation) whole(ctx context.Context, s *state, k int) (bool, error) {
	name := g.folder()
	next := g.seen.get(name)
	for ; next < g.count; next++ {
		if next == k {
			continue
		}
		h, err := g.look(ctx, next)
		if err != nil {
			return false, err
		}
		if !s.counts(next, h) {
			break
		}
	}
	g.seen.set(name, next)
	return next == g.count, nil
}
