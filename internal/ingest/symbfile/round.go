package symbfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	roundBlob = "round" // of an upload: where to look for the current round
	overBlob  = "over"  // of a round: when it ended
	sumsBlob  = "sums"  // of a round that was published: the beginnings of its parts' sums

	sumPart   = 8           // bytes of a sum among sums
	cleanTime = time.Minute // for ending a round, also if the client has left
)

// upload is the parts that belong together, as far as can be told.
type upload struct {
	*Store
	file  ident.FileID
	kind  Kind
	count int
	name  string // see Part.upload
}

// folder begins its keys.
func (u upload) folder() string {
	return fmt.Sprintf("%s/%s/%s/%d/%s/", Incoming, u.file.Base64(), u.kind, u.count, u.name)
}

// named tells whether its client gave it a name.
func (u upload) named() bool { return !strings.HasPrefix(u.name, apart) }

// round is the parts of an upload that came since the one before was published or
// gave way. A place of a round takes one part and keeps it, and no round opens
// again: so no process can harm what it does not know of.
type round struct {
	upload
	number int64
	fresh  bool // the blob "round" names an earlier one
}

func (r round) key(name string) string { return fmt.Sprintf("%s%d/%s", r.folder(), r.number, name) }

func (r round) part(k int) string { return r.key(fmt.Sprint(k)) }

// mark is a small blob that says something of a round.
type mark struct {
	Round     int64     `json:"round,omitempty"` // in "round"
	At        time.Time `json:"at,omitzero"`     // in "over"
	Published bool      `json:"published,omitempty"`
}

// mark reads a mark, nil if there is none.
func (u upload) mark(ctx context.Context, key string) (*mark, error) {
	text, err := u.read(ctx, key, 0, maxHead)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	m := &mark{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fault.New(fault.Malformed, key, "%w", err)
	}
	return m, nil
}

// read reads some bytes of a blob.
func (u upload) read(ctx context.Context, key string, off, n int64) ([]byte, error) {
	r, _, err := u.deps.Bucket.Get(ctx, key, off, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (u upload) write(ctx context.Context, key string, m mark, ifAbsent bool) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fault.New(fault.Internal, key, "%w", err)
	}
	_, err = u.deps.Bucket.Put(ctx, key, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: ifAbsent})
	return err
}

// current returns the round that takes parts: the first one that is not over,
// counted from the one that the blob "round" names. The first number is the time: no
// round has that of one whose end was swept.
func (u upload) current(ctx context.Context) (round, error) {
	key := u.folder() + roundBlob
	first, err := u.mark(ctx, key)
	if err == nil && first == nil {
		if err = u.write(ctx, key, mark{Round: u.deps.Now().UnixMilli()}, true); err == nil {
			first, err = u.mark(ctx, key) // another process may have been faster
		}
	}
	switch {
	case err != nil:
		return round{}, err
	case first == nil:
		return round{}, fault.New(fault.Transport, key, "it was written and is not there")
	}
	r := round{upload: u, number: first.Round}
	for {
		over, err := r.over(ctx)
		if err != nil || over == nil {
			return r, err
		}
		r.number++
		r.fresh = true
	}
}

// begin has the search begin at this round. That is written when the first part of a
// round is about to be stored, so it is swept together with that.
func (r round) begin(ctx context.Context) error {
	if !r.fresh {
		return nil
	}
	return r.write(ctx, r.folder()+roundBlob, mark{Round: r.number}, false)
}

// over returns the mark of the round's end, nil while it takes parts.
func (r round) over(ctx context.Context) (*mark, error) { return r.mark(ctx, r.key(overBlob)) }

// end ends the round, and removes its parts. Heads are those of a round that was
// published. What cannot be removed is in nobody's way.
func (r round) end(ctx context.Context, heads []*head) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if heads != nil {
		var sums []byte
		for _, h := range heads {
			sums = append(sums, h.Sum[:sumPart]...)
		}
		if _, err := r.deps.Bucket.Put(ctx, r.key(sumsBlob), bytes.NewReader(sums), bucket.Attrs{Size: int64(len(sums))}); err != nil {
			return err
		}
	}
	if err := r.write(ctx, r.key(overBlob), mark{At: r.deps.Now(), Published: heads != nil}, true); err != nil {
		return err
	}
	err := each(r.count, func(k int) error { return r.deps.Bucket.Delete(ctx, r.part(k)) })
	if err != nil {
		r.deps.Log.Warn("parts of an upload are left behind", "file", r.file.Base64(), "kind", r.kind, "error", err)
	}
	return nil
}
