package sentry

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// Fetched source files are cached, since each report of one crash needs the same
// ones.
const (
	textsBytes = 32 << 20
	textLife   = 10 * time.Minute
	faultLife  = time.Minute
	textSize   = 256 // of an entry, besides the text
)

// text is the outcome of a fetch.
type text struct {
	text  []byte
	fault *fault.Error
	until time.Time
}

// fetchLink returns the source file at a URL, fetched now or cached for the same
// scope and headers.
func (d *Door) fetchLink(ctx context.Context, q *request, address string) ([]byte, *fault.Error) {
	parts := []string{"text", q.scope, address, strconv.FormatBool(q.Scraping.Verify)}
	for _, name := range slices.Sorted(maps.Keys(q.Scraping.Headers)) {
		parts = append(parts, name, q.Scraping.Headers[name].Reveal())
	}
	key := cache.KeyOf(parts...)
	if ref, ok := d.texts.Get(key); ok {
		defer ref.Release()
		if t := ref.Value(); t.until.After(d.deps.Now()) {
			return t.text, t.fault
		}
	}
	t := &text{}
	t.text, t.fault = d.receive(ctx, q, address)
	if ctx.Err() != nil { // not a failure of the server
		return t.text, t.fault
	}
	life := textLife
	if t.fault != nil {
		life = faultLife
	}
	t.until = d.deps.Now().Add(life)
	d.texts.Put(key, t, textSize+int64(len(t.text)), nil).Release()
	return t.text, t.fault
}

func (d *Door) receive(ctx context.Context, q *request, address string) ([]byte, *fault.Error) {
	text, err := d.deps.Fetch(ctx, address, q.Scraping.Headers, q.Scraping.Verify)
	switch {
	case err != nil:
		return nil, fault.Of(err)
	case !utf8.Valid(text):
		return nil, fault.New(fault.Malformed, "", "the source file is not UTF-8")
	}
	return text, nil
}
