package locate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// Metas, as JSON, and build ids are stored after a checksum of their key and text, in
// eight hex digits.
const sumSize = 8

// maxMeta bounds the size of a stored text.
const maxMeta = 1 << 20

func checksum(key cache.Key, text []byte) string {
	return fmt.Sprintf("%08x", crc32.Update(crc32.Checksum(key[:], bin.Castagnoli), bin.Castagnoli, text))
}

// storeChecked stores a text with its checksum.
func (l *shared) storeChecked(ctx context.Context, key cache.Key, text []byte) error {
	return cache.StoreText(context.WithoutCancel(ctx), l.tier, cache.Meta, key, append([]byte(checksum(key, text)), text...))
}

// readChecked reads a text that storeChecked stored.
func readChecked(src bin.Source, key cache.Key) ([]byte, error) {
	text, err := bin.Read(src, 0, int(min(src.Size(), maxMeta)))
	switch {
	case err != nil:
		return nil, err
	case len(text) < sumSize || string(text[:sumSize]) != checksum(key, text[sumSize:]):
		return nil, errors.New("its checksum does not match")
	}
	return text[sumSize:], nil
}

func readMeta(src bin.Source, key cache.Key) (*Meta, error) {
	text, err := readChecked(src, key)
	if err != nil {
		return nil, err
	}
	meta := &Meta{}
	return meta, json.Unmarshal(text, meta)
}

// remembered returns the meta that is stored for a candidate, or nil for a
// remembered fault, which is set in tried, and whether there is either.
func (l *shared) remembered(ctx context.Context, key cache.Key, tried *Tried) (meta *Meta, known bool) {
	blob, err := l.tier.Get(ctx, cache.Meta, key)
	if err != nil {
		tried.Cached, tried.Fault = true, fault.Of(err)
		tried.Expires = cache.Expires(err)
		return nil, true
	}
	if blob == nil {
		return nil, false
	}
	defer blob.Close()
	meta, err = readMeta(blob, key)
	if err != nil {
		l.log.Warn("a stored description of a file is damaged and will be made again", "error", err)
		l.tier.Forget(ctx, cache.Meta, key)
		return nil, false
	}
	if (meta.Kind == "elf" || meta.Hidden) && !meta.IsListed {
		return nil, false
	}
	tried.Cached = true
	return meta, true
}

// remember remembers a fault of a candidate, from when its source was asked.
func (l *shared) remember(ctx context.Context, key cache.Key, f *fault.Error, c source.Candidate, asked time.Time) {
	if life := l.life(f, c) - l.now().Sub(asked); life > 0 {
		l.tier.Remember(ctx, cache.Meta, key, f, life)
	}
}

// life returns how long a fault of a candidate is remembered.
func (l *shared) life(f *fault.Error, c source.Candidate) time.Duration {
	if c.Local || f.Kind == fault.Internal {
		return 0
	}
	return l.lives.For(f, c.Public)
}

// logFault logs the fault of a file. Missing files are not logged.
func (l *shared) logFault(c source.Candidate, a source.Attempt, f *fault.Error) {
	if f.Kind == fault.NotFound {
		return
	}
	more, ok := l.logLimit.allow(c.Source, f.Kind, l.now())
	if !ok {
		return
	}
	l.log.Warn("cannot use a file", "source", c.Source, "location", c.Location, "kind", f.Kind.String(),
		"reason", f.Detail, "status", a.Status, "tries", 1+a.Retries, "duration", a.Time.Round(time.Millisecond), "more", more)
}

// Invalidate ends the use of all that is known of modules with one of these identifiers:
// missing files are looked up again, and the sources of found files are asked for changes.
func (l *Locator) Invalidate(ctx context.Context, m ident.Module) error {
	now := l.now()
	text, err := now.MarshalBinary()
	if err != nil {
		return err
	}
	for _, id := range ids(m.Derive()) {
		if err := cache.StoreText(ctx, l.tier, cache.Meta, invalidationKey(id), text); err != nil {
			return err
		}
		l.invalidations.note(id, now)
	}
	return nil
}

// Withdraw is Invalidate for modules whose files may have been removed on purpose: an
// open file is not used any more if no source has one.
func (l *Locator) Withdraw(ctx context.Context, m ident.Module) error {
	now := l.now()
	for _, id := range ids(m.Derive()) {
		l.withdrawals.note(id, now)
	}
	return l.Invalidate(ctx, m)
}

// IsWithdrawn reports whether m was withdrawn since an outcome was seen.
func (l *Locator) IsWithdrawn(m ident.Module, f Freshness) bool {
	return !l.withdrawals.last(ids(m.Derive())).Before(f.Seen)
}

// invalidated returns the last time when m was invalidated, by this process or
// another one.
func (l *Locator) invalidated(ctx context.Context, m ident.Module) time.Time {
	last := l.invalidations.last(ids(m))
	for _, id := range ids(m) {
		cache.Every(ctx, l.tier, cache.Meta, invalidationKey(id), func(blob cache.Blob) {
			var at time.Time
			if text, err := bin.Read(blob, 0, int(min(blob.Size(), 64))); err == nil && at.UnmarshalBinary(text) == nil {
				last = later(last, at)
			}
		})
	}
	return last
}
