package ingest

import (
	"bytes"
	"context"
	"errors"
	"time"

	"symbolon/internal/fault"
)

const maxTries = 10 // to store a part whose round ends meanwhile

// hold stores a part in the current round and returns the round. It returns false
// if the part repeats one that was published.
func (u Upload) hold(ctx context.Context, k int, d *Draft) (round, bool, error) {
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
	return round{}, false, fault.New(fault.Transport, u.Folder, "uploads ended %d times while a part was stored", maxTries)
}

// keep stores a part unless its place has another one. It returns false if the
// round ended meanwhile, or was discarded.
func (r round) keep(ctx context.Context, k int, d *Draft) (bool, error) {
	d.Received = r.deps.Now().UnixMilli()
	if created, err := r.put(ctx, k, d, true); err != nil || created {
		return created, err
	}
	h, err := r.look(ctx, k)
	if err != nil || h == nil {
		return false, err
	}
	same := h.Sum == d.Sum
	if !same || k == 0 && !r.IsNamed {
		if gone, err := r.discardIdle(ctx, k); err != nil || gone {
			return false, err
		}
	}
	switch {
	case !same:
		return false, Refuse(Conflict, r.place(k), "another upload of this file is in progress and has another part with this number; try again when it is complete, or when it has received nothing for %v", ReplaceAfter)
	case h.Received != d.Received: // a repetition keeps the upload alive
		_, err = r.put(ctx, k, d, false)
	}
	return err == nil, err
}

// repeats reports whether a part is one of the last published upload, or of one that
// was published recently, sent twice or because its answer was lost.
//
// If uploads have no names, a part that may belong to two is refused for some time:
// to one that shared its first parts with a published one, or to the published one,
// sent again after the next upload has begun.
func (r round) repeats(ctx context.Context, k int, d *Draft) (bool, error) {
	zero, doubt := &d.Head, false
	for old := (round{Upload: r.Upload, number: r.number - 1}); ; old.number-- {
		over, err := old.over(ctx)
		if err != nil {
			return false, err
		}
		recent := over != nil && r.deps.Now().Sub(over.At) < ReplaceAfter
		if over == nil || !recent && old.number < r.number-1 {
			break
		}
		if k > 0 && zero == &d.Head {
			first, err := r.look(ctx, 0)
			if err != nil {
				return false, err
			}
			if zero = nil; first != nil {
				zero = &first.Head
			}
		}
		same, err := old.has(ctx, k, &d.Head)
		if err != nil {
			return false, err
		}
		if same && (zero == nil || d.began.Before(over.At)) {
			return true, nil
		}
		switch {
		case r.IsNamed || !recent || !over.Published:
		case zero == nil:
			doubt = true
		case same:
			alike, err := old.has(ctx, 0, zero)
			if err != nil {
				return false, err
			}
			doubt = doubt || !alike
		}
	}
	if doubt {
		return false, Refuse(Conflict, r.place(k), "an upload of this file was published less than %v ago, and this part may belong to that one or to another; try again later, with part 0 first", ReplaceAfter)
	}
	return false, nil
}

// has reports whether the round was published with a part in this place.
func (r round) has(ctx context.Context, k int, h *Head) (bool, error) {
	sum, err := r.read(ctx, r.key(sumsBlob), int64(k)*sumPart, sumPart)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return false, nil // it has expired
	}
	return err == nil && bytes.Equal(sum, h.Sum[:sumPart]), err
}

// discardIdle discards the round if no part arrived recently. A complete one is published:
// the process that stored its last part may have crashed. It returns false if the round
// continues.
func (r round) discardIdle(ctx context.Context, k int) (bool, error) {
	now := r.deps.Now()
	parts, isRecent, err := r.scan(ctx, k, func(h *Part) bool {
		return h != nil && now.Sub(time.UnixMilli(h.Received)) < ReplaceAfter
	})
	if err != nil || isRecent {
		return false, err
	}
	for _, h := range parts {
		if h == nil {
			return true, r.end(ctx, nil)
		}
	}
	_, err = r.publish(ctx, parts)
	if _, ok := errors.AsType[*Refusal](err); ok { // the other upload was refused, and has ended
		err = nil
	}
	return true, err
}
