package token

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"symbolon/internal/bucket/numbered"
	"symbolon/internal/fault"
)

// stored are the added tokens, as they were read. They never change in place.
type stored struct {
	tokens  []Token
	all     []Token // those of the configuration and the added ones
	last    int     // number of their blob; zero: no blob yet
	version string  // of this blob
}

// All returns all tokens. If the added ones were never read, it returns those of the
// configuration and an error. The caller must not change them.
func (r *Ring) All(ctx context.Context) ([]Token, error) {
	s, err := r.stored.Get(ctx)
	if err != nil {
		return r.fixed, err
	}
	return s.all, nil
}

// change writes the blob after the last one, with changed tokens. If another process
// is faster, it changes the tokens of that one.
func (r *Ring) change(ctx context.Context, do func([]Token) ([]Token, error)) error {
	s, err := r.stored.Renew(ctx)
	if err != nil {
		return err
	}
	_, err = r.blobs.Change(ctx, s.last, func(text []byte) ([]byte, error) {
		before, err := decode(text)
		if err != nil {
			return nil, err
		}
		after, err := do(before)
		if err != nil {
			return nil, err
		}
		text, err = json.Marshal(after)
		if len(text) > numbered.MaxText && len(after) > len(before) {
			return nil, fmt.Errorf("too many tokens, or too long names: all tokens together must take at most %d bytes", numbered.MaxText)
		}
		return text, err
	})
	if err == nil {
		_, err = r.stored.Renew(ctx)
	}
	return err
}

// load reads the added tokens if their blob is not the last one, or was replaced
// together with the bucket. A bucket without any after one that had some is an error.
func (r *Ring) load(ctx context.Context, s stored) (stored, error) {
	had := s
	if s.last > 0 {
		switch a, err := r.blobs.Bucket.Stat(ctx, r.blobs.Key(s.last)); {
		case fault.KindOf(err) == fault.NotFound, err == nil && a.Version != s.version:
			s = stored{} // the bucket is another one
		case err != nil:
			return s, err
		}
	}
	newest, err := r.blobs.Newest(ctx, s.last)
	if err != nil {
		return s, err
	}
	if newest == 0 && had.last > 0 {
		// An empty mount point, or a missing bucket. Tokens are added and revoked in
		// new blobs, so that no store loses them all by itself.
		return had, fault.New(fault.Transport, r.blobs.Prefix, "the store has lost all tokens: "+
			"mount its disk or restore its bucket, or restart the server if it was emptied on purpose")
	}
	if newest != s.last {
		var text []byte
		if text, s.version, err = r.blobs.Read(ctx, newest); err != nil {
			return s, err
		}
		if s.tokens, err = decode(text); err != nil {
			return s, fault.New(fault.Malformed, r.blobs.Key(newest), "read the tokens: %w", err)
		}
	}
	s.last, s.all = newest, slices.Concat(r.fixed, s.tokens)
	return s, nil
}

// decode decodes the text of a blob; nil has no tokens. Keys of earlier releases get
// the rights that they had.
func decode(text []byte) (all []Token, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for i := range all {
		if t := &all[i]; t.Right != "" && t.Rights == nil {
			g := Key(t.Name, t.Right)
			t.Rights, t.Projects = g.Rights, g.Projects
		}
	}
	return all, nil
}
