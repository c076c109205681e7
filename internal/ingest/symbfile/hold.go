package symbfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	patience = 10 * time.Minute // an upload of which no part came for so long gives way
	maxHead  = 1 << 10
	maxTries = 10
)

// hold stores a part in the current round and returns that round. It returns false
// if the part repeats one of the upload that was published last.
func (u upload) hold(ctx context.Context, k int, d *draft) (round, bool, error) {
	for range maxTries {
		r, err := u.current(ctx)
		if err != nil {
			return r, false, err
		}
		if repeated, err := r.repeats(ctx, k, d); err != nil || repeated {
			return r, false, err
		}
		if err := r.begin(ctx); err != nil {
			return r, false, err
		}
		if kept, err := r.keep(ctx, k, d); err != nil {
			return r, false, err
		} else if !kept {
			continue
		}
		// The round may have ended before the part was stored. If it ends later, it
		// ends with this part.
		if over, err := r.over(ctx); err != nil || over == nil {
			return r, true, err
		}
	}
	return round{}, false, fault.New(fault.Transport, u.folder(), "uploads ended %d times while a part was stored", maxTries)
}

// keep stores a part unless another one is held in its place. It returns false if
// the round ended meanwhile, or did so to make room.
func (r round) keep(ctx context.Context, k int, d *draft) (bool, error) {
	d.head.Received = r.deps.Now().UnixMilli()
	if err := r.put(ctx, k, d, true); err != nil {
		return false, err
	}
	h, err := r.look(ctx, k)
	if err != nil || h == nil {
		return false, err
	}
	same := h.Sum == d.head.Sum
	if !same || k == 0 && !r.named() {
		if gone, err := r.giveWay(ctx, k); err != nil || gone {
			return false, err
		}
	}
	switch {
	case !same:
		return false, refuse(Conflict, r.place(k), "another upload of this file is under way, and has a different part in this place; try again when it is done, or when no part came for %v", patience)
	case h.Received != d.head.Received: // it came again, which keeps the upload alive
		err = r.put(ctx, k, d, false)
	}
	return err == nil, err
}

// repeats tells whether a part is one of an upload that was published, sent twice or
// again because its answer was lost: one of the last upload, or of those that were
// published a short time ago.
//
// Where uploads have no names, a part is refused for a while if it may be of two: of
// one that shared its first parts with a published one, which are not held any more;
// or one of the published that is sent again when the next upload has begun.
func (r round) repeats(ctx context.Context, k int, d *draft) (bool, error) {
	zero, doubt := &d.head, false
	for old := (round{upload: r.upload, number: r.number - 1}); ; old.number-- {
		over, err := old.over(ctx)
		if err != nil {
			return false, err
		}
		recent := over != nil && r.deps.Now().Sub(over.At) < patience
		if over == nil || !recent && old.number < r.number-1 {
			break
		}
		if k > 0 && zero == &d.head {
			if zero, err = r.look(ctx, 0); err != nil {
				return false, err
			}
		}
		same, err := old.had(ctx, k, &d.head)
		if err != nil {
			return false, err
		}
		if same && (zero == nil || d.began.Before(over.At)) {
			return true, nil
		}
		switch {
		case r.named() || !recent || !over.Published:
		case zero == nil:
			doubt = true
		case same:
			alike, err := old.had(ctx, 0, zero)
			if err != nil {
				return false, err
			}
			doubt = doubt || !alike
		}
	}
	if doubt {
		return false, refuse(Conflict, r.place(k), "an upload of this file was published less than %v ago, and this part may be of that or of another one; try again later, with part 0 first", patience)
	}
	return false, nil
}

// had tells whether a part was published in its place.
func (r round) had(ctx context.Context, k int, h *head) (bool, error) {
	sum, err := r.read(ctx, r.key(sumsBlob), int64(k)*sumPart, sumPart)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return false, nil // it was swept
	}
	return err == nil && bytes.Equal(sum, h.Sum[:sumPart]), err
}

// giveWay ends the round if no part came for long. A complete one is published
// first: the process that was to do that may have died. It returns false if the
// round goes on.
func (r round) giveWay(ctx context.Context, k int) (bool, error) {
	now := r.deps.Now()
	heads, fresh, err := r.scan(ctx, k, func(h *head) bool {
		return h != nil && now.Sub(time.UnixMilli(h.Received)) < patience
	})
	if err != nil || fresh {
		return false, err
	}
	for _, h := range heads {
		if h == nil {
			return true, r.end(ctx, nil)
		}
	}
	_, err = r.publish(ctx, heads)
	var refused *Refusal
	if errors.As(err, &refused) { // that was the other upload, which ended
		err = nil
	}
	return true, err
}

// put stores a part.
func (r round) put(ctx context.Context, k int, d *draft, ifAbsent bool) error {
	line, err := json.Marshal(&d.head)
	if err != nil {
		return fault.New(fault.Internal, r.part(k), "%w", err)
	}
	line = append(line, '\n')
	body := io.MultiReader(bytes.NewReader(line), io.NewSectionReader(d.spool, 0, d.spool.Size()))
	_, err = r.deps.Bucket.Put(ctx, r.part(k), body, bucket.Attrs{Size: int64(len(line)) + d.spool.Size(), IfAbsent: ifAbsent})
	return err
}

// look reads the head of the part k, nil if there is none.
func (r round) look(ctx context.Context, k int) (*head, error) {
	text, err := r.read(ctx, r.part(k), 0, maxHead)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return parseHead(line, r.part(k))
}

func parseHead(text []byte, key string) (*head, error) {
	h := &head{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fault.New(fault.Malformed, key, "%w", err)
	}
	return h, nil
}

// errEnough ends a scan.
var errEnough = errors.New("enough was seen")

// scan looks at the parts, those next to the place k first, until one is enough,
// and tells whether one was. Senders go up, down, or side by side: a part that is
// missing is most often close to the one that came.
func (r round) scan(ctx context.Context, k int, enough func(*head) bool) (heads []*head, found bool, err error) {
	heads = make([]*head, r.count)
	err = each(r.count, func(i int) error {
		at := k - i/2
		if i%2 == 1 {
			at = k + (i+1)/2
		}
		at = (at + r.count) % r.count
		h, err := r.look(ctx, at)
		if err == nil && enough(h) {
			err = errEnough
		}
		heads[at] = h
		return err
	})
	if errors.Is(err, errEnough) {
		return nil, true, nil
	}
	return heads, false, err
}

// place names a part in a refusal.
func (r round) place(k int) string {
	return "part " + strconv.Itoa(k) + " of " + fmt.Sprint(r.count)
}
