package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	quiet   = time.Minute // after which uploads that met are over, and an answer is not asked for again
	maxHead = 1 << 10
)

// generation is the parts that belong together, as far as can be told.
type generation struct {
	*Store
	file   ident.FileID
	kind   Kind
	count  int
	upload string // see Part.upload
}

// folder is the prefix of its keys.
func (g generation) folder() string {
	return fmt.Sprintf("%s/%s/%s/%d/%s/", Incoming, g.file.Base64(), g.kind, g.count, g.upload)
}

// named tells whether its parts say of which upload they are.
func (g generation) named() bool { return !strings.HasPrefix(g.upload, nobody) }

func (g generation) part(k int) string { return g.folder() + strconv.Itoa(k) }

// state is what decides whether a part counts.
type state struct {
	g         generation
	now       time.Time
	contested time.Time // when uploads met last; zero: never, as far as is known
	info      *Info     // nil: nothing is published
}

func (g generation) state(ctx context.Context) (*state, error) {
	contest, err := g.marked(ctx, contested)
	if err != nil {
		return nil, err
	}
	s := &state{g: g, now: g.deps.Now(), contested: contest}
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

// stamp is when a part came that comes now. Clocks differ; it is behind what is
// published anyway.
func (s *state) stamp() time.Time {
	at := s.now.Truncate(time.Millisecond) // as it is written
	if i := s.info; i != nil && !at.After(i.Published) {
		return i.Published.Add(time.Millisecond)
	}
	return at
}

// hold puts a part where it waits for the others, and gives the state in which that
// was done. It is not held if it is published already.
func (g generation) hold(ctx context.Context, k int, d *draft) (s *state, held bool, err error) {
	for range maxTries {
		if s, err = g.state(ctx); err != nil {
			return nil, false, err
		}
		if s.refused() {
			return nil, false, g.contest(ctx, k)
		}
		if again, err := s.again(ctx, k, &d.head); err != nil || again {
			return s, false, err
		}
		if err := s.inOrder(ctx, k); err != nil {
			return nil, false, err
		}
		if err := g.put(ctx, k, d, s.stamp()); err != nil {
			return nil, false, err
		}
		h, err := g.look(ctx, k)
		switch {
		case err != nil:
			return nil, false, err
		case h == nil: // published and removed, just now
		case !s.counts(k, h):
			if err := g.clear(ctx, k); err != nil {
				return nil, false, err
			}
		case h.Sum != d.head.Sum:
			return nil, false, g.contest(ctx, k)
		default:
			return g.held(ctx, k, h, d.began)
		}
	}
	return nil, false, fault.New(fault.Transport, g.part(k), "it changes all the time")
}

// put stores a part, unless there is one.
func (g generation) put(ctx context.Context, k int, d *draft, at time.Time) error {
	d.head.Received = at.UnixMilli()
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
func (g generation) held(ctx context.Context, k int, h *head, began time.Time) (*state, bool, error) {
	s, err := g.state(ctx)
	if err != nil {
		return nil, false, err
	}
	again, err := s.again(ctx, k, h)
	switch {
	case err != nil:
		return nil, false, err
	case again:
		return s, false, g.take(ctx, k, h)
	}
	return s, true, s.begins(ctx, k, h, began)
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
