package bucket

import (
	"context"
	"strings"
	"unicode/utf8"

	"symbolon/internal/fault"
)

const (
	// MaxPage is the largest number of keys that a List returns.
	MaxPage = 1000
	// MaxListing is the largest answer of a store to a List: escaped keys of the largest
	// length, and a kilobyte of attributes for each.
	MaxListing = MaxPage * (3*MaxKey + 1<<10)

	maxSkipped = 1000 // pages of a listing without a valid key
)

// BeginList checks the arguments of a List. It returns the size of the page, zero
// if no key can be on it.
func BeginList(ctx context.Context, prefix, after string, n int) (int, error) {
	for _, text := range [...]string{prefix, after} {
		if len(text) > MaxKey || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return 0, fault.New(fault.Malformed, "", "invalid part of a key %.80q: must be UTF-8 of at most 1024 bytes, without NUL", text)
		}
	}
	slash := strings.LastIndexByte(prefix, '/')
	if n < 1 || slash >= 0 && Check(prefix[:slash]) != nil || after > prefix && !strings.HasPrefix(after, prefix) {
		return 0, Ended(ctx)
	}
	return min(n, MaxPage), Ended(ctx)
}

// Listing is a List of an object store.
type Listing struct {
	Place  string // for messages
	Folder string // before all keys of the bucket
	// Fetch returns at most n names of the store that begin with prefix and are
	// greater than after, in order, and reports whether there are more.
	Fetch func(ctx context.Context, prefix, after string, n int) (names []string, more bool, err error)
}

// Page returns a page of keys. It does not trust the store: an answer that is not
// in order, or not one to the request, is an error, so that reading pages ends.
func (l Listing) Page(ctx context.Context, prefix, after string, n int) (keys []string, more bool, err error) {
	n, err = BeginList(ctx, prefix, after, n)
	if n == 0 || err != nil {
		return nil, false, err
	}
	last := ""
	if after != "" {
		last = l.Folder + after
	}
	for range maxSkipped {
		names, more, err := l.Fetch(ctx, l.Folder+prefix, last, n)
		if err != nil {
			return nil, false, err
		}
		for _, name := range names {
			key, ok := strings.CutPrefix(name, l.Folder)
			if !ok || !strings.HasPrefix(key, prefix) || name <= last {
				return nil, false, fault.New(fault.Transport, l.Place, "the store does not list its keys in order")
			}
			if last = name; Check(key) == nil {
				keys = append(keys, key)
			}
		}
		switch {
		case len(names) > n, len(names) == 0 && more:
			return nil, false, fault.New(fault.Transport, l.Place, "the store lists %d keys, not up to %d", len(names), n)
		case len(keys) > 0 || !more:
			return keys, more, nil
		}
	}
	return nil, false, fault.New(fault.Unsupported, l.Place, "too many keys of the store are invalid")
}
