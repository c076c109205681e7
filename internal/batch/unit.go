package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/filter"
)

// unit is the rows of a part while it is made. It is the content of the part as an
// io.Reader.
type unit struct {
	id      unitID
	version int
	old     *part // the version before this one; nil if there is none
	run     *filter.Run
	free    func(*chunk)
	chunks  chan *chunk // in their order; closed after the last one
	isLast  bool        // of its input; after chunks is closed
	err     error       // of reading the rows; after chunks is closed

	now    *chunk
	packed []byte // the rest of the new ones
	part   part
	sum    hash.Hash
}

// errNotBetter is the error of a unit that was redone and has no more names.
var errNotBetter = errors.New("the unit has no more names than before")

// newUnit begins a unit, once less than the largest number of units are open.
func (w *run) newUnit(ctx context.Context, id unitID) (*unit, error) {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	u := &unit{id: id, version: 1, run: w.NewRun(), free: w.release, chunks: make(chan *chunk, cap(w.free)), sum: sha256.New()}
	if p := w.parts[id]; p != nil && p.isStored {
		u.version, u.old = p.version+1, p
	} else if p != nil {
		u.version = p.version // its process was killed before it stored the counts
	}
	w.units.Go(func() {
		defer func() { <-w.slots }()
		if err := w.store(ctx, u); err != nil {
			w.cancel(err)
		}
	})
	return u, nil
}

// Read waits for the chunks, and releases them.
func (u *unit) Read(p []byte) (int, error) {
	for len(u.packed) == 0 {
		if !u.next() {
			u.finish()
			switch {
			case u.err != nil:
				return 0, u.err
			case u.old != nil && u.old.Missing[unknown] == 0 && u.part.Named <= u.old.Named:
				return 0, errNotBetter
			}
			return 0, io.EOF
		}
		if u.now.err != nil {
			return 0, u.now.err
		}
		u.packed = u.now.packed.Bytes()
		u.part.Rows += u.now.rows
		u.part.Failed += u.now.failed
		u.part.Size += int64(len(u.packed))
		u.sum.Write(u.packed)
	}
	n := copy(p, u.packed)
	u.packed = u.packed[n:]
	return n, nil
}

// next waits for the next chunk. It returns false after the last one.
func (u *unit) next() bool {
	if u.now != nil {
		u.free(u.now)
	}
	if u.now = <-u.chunks; u.now == nil {
		return false
	}
	<-u.now.done
	return true
}

// finish completes the counts.
func (u *unit) finish() {
	p := &u.part
	p.SHA256, p.IsLast = hex.EncodeToString(u.sum.Sum(nil)), u.isLast
	n := u.run.Counts()
	p.Addresses, p.Named, p.Missing = n.Addresses, n.Named, nil
	missing := u.run.Missing()
	for _, m := range missing {
		p.miss(m.Reason(), 1)
	}
	p.Modules = most(missing)
}

// store stores the part of a unit, and then its counts.
func (w *run) store(ctx context.Context, u *unit) error {
	key := u.id.key(u.version, rowsSuffix)
	created, err := w.out.Put(ctx, key, u, bucket.Attrs{IfAbsent: true})
	if err == nil && !created {
		_, err = io.Copy(io.Discard, u) // for the counts
	}
	for u.next() { // after an error
	}
	w.result.Missing.Add(u.run.Missing())
	if errors.Is(err, errNotBetter) {
		return nil
	}
	if err == nil && !created {
		err = w.compare(ctx, u, key)
	}
	if err != nil {
		return err
	}
	if w.Now != nil {
		u.part.Stored = w.Now().UTC().Truncate(time.Millisecond)
	}
	text, err := json.Marshal(&u.part)
	if err == nil {
		_, err = w.out.Put(ctx, u.id.key(u.version, countsSuffix), bytes.NewReader(append(text, '\n')), bucket.Attrs{IfAbsent: true})
	}
	return err
}

// compare compares a unit with its part that exists. That of a process that had
// other symbols has unknown counts, and is redone by the next run.
func (w *run) compare(ctx context.Context, u *unit, key string) error {
	in, a, err := w.out.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if text := hex.EncodeToString(sum.Sum(nil)); text != u.part.SHA256 {
		u.part.SHA256, u.part.Size, u.part.Named = text, a.Size, 0
		u.part.miss(unknown, 1)
	}
	return nil
}
