package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	roundBlob = "round" // of an upload: the round to begin the search at
	overBlob  = "over"  // of a round: when it ended
	sumsBlob  = "sums"  // of a published round: the beginnings of the sums of its parts

	sumPart   = 8           // bytes of a sum in sums
	maxMark   = 1 << 10     // bytes of a mark
	cleanTime = time.Minute // to end a round after the client has left
)

// round is the parts of an upload that arrived since the one before was published
// or discarded. A place of a round is created once, and no round opens again, so no
// process can destroy a part that it does not know.
type round struct {
	Upload
	number  int64
	isFresh bool // the blob "round" names an earlier one
}

func (r round) key(name string) string { return fmt.Sprintf("%s/%d/%s", r.Folder, r.number, name) }

func (r round) part(k int) string { return r.key(fmt.Sprint(k)) }

// mark is the content of a small blob about a round.
type mark struct {
	Round     int64     `json:"round,omitempty"` // in "round"
	At        time.Time `json:"at,omitzero"`     // in "over"
	Published bool      `json:"published,omitempty"`
}

// mark reads a mark, nil if it is missing.
func (u Upload) mark(ctx context.Context, key string) (*mark, error) {
	text, err := u.read(ctx, key, 0, maxMark)
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

// read reads n bytes of a blob.
func (u Upload) read(ctx context.Context, key string, off, n int64) ([]byte, error) {
	r, _, err := u.deps.Bucket.Get(ctx, key, off, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (u Upload) write(ctx context.Context, key string, m mark, ifAbsent bool) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fault.New(fault.Internal, key, "%w", err)
	}
	_, err = u.deps.Bucket.Put(ctx, key, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: ifAbsent})
	return err
}

// current returns the round that accepts parts: the first one that is not over,
// from the one in the blob "round" on. The first number is the time, so that no
// round has the number of one whose blobs were removed.
func (u Upload) current(ctx context.Context) (round, error) {
	key := u.Folder + "/" + roundBlob
	first, err := u.mark(ctx, key)
	if err == nil && first == nil {
		if err = u.write(ctx, key, mark{Round: u.deps.Now().UnixMilli()}, true); err == nil {
			first, err = u.mark(ctx, key) // which another process may have created
		}
	}
	switch {
	case err != nil:
		return round{}, err
	case first == nil:
		return round{}, fault.New(fault.Transport, key, "the blob disappeared")
	}
	r := round{Upload: u, number: first.Round}
	for {
		over, err := r.over(ctx)
		if err != nil || over == nil {
			return r, err
		}
		r.number++
		r.isFresh = true
	}
}

// begin makes later searches begin at this round. It is called before the first
// part of a round is stored, so that both expire together.
func (r round) begin(ctx context.Context) error {
	if !r.isFresh {
		return nil
	}
	return r.write(ctx, r.Folder+"/"+roundBlob, mark{Round: r.number}, false)
}

// over returns the mark of the end of the round, nil while it accepts parts.
func (r round) over(ctx context.Context) (*mark, error) { return r.mark(ctx, r.key(overBlob)) }

// end ends the round and removes its parts, which are nil unless they were
// published. Parts that cannot be removed expire.
func (r round) end(ctx context.Context, parts []*Part) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if parts != nil {
		var sums []byte
		for _, p := range parts {
			sums = append(sums, p.Sum[:sumPart]...)
		}
		if _, err := r.deps.Bucket.Put(ctx, r.key(sumsBlob), bytes.NewReader(sums), bucket.Attrs{Size: int64(len(sums))}); err != nil {
			return err
		}
	}
	if err := r.write(ctx, r.key(overBlob), mark{At: r.deps.Now(), Published: parts != nil}, true); err != nil {
		return err
	}
	err := bucket.Each(r.Count, func(k int) error { return r.deps.Bucket.Delete(ctx, r.part(k)) })
	if err != nil {
		r.Log.Warn("cannot remove the parts of an upload", "error", err)
	}
	return nil
}
