package locate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Found is the file that was chosen. It must be closed.
type Found struct {
	Meta

	l            *Locator
	source       source.Source
	candidate    source.Candidate
	key          cache.Key
	mu           sync.Mutex
	file         *fetched // nil until File
	mapping      *Found   // of its lines; nil if not found
	mappingTrail []Tried
	mappingUntil time.Time // when to look for a mapping again; zero: never
}

// Tag identifies the state of the file. It is empty if neither a validator nor a
// hash is known.
func (f *Found) Tag() string {
	var id [32]byte
	switch {
	case f.Validator != "":
		id = cache.KeyOf("tag", string(f.key[:]), f.Validator)
	case f.Hash != id:
		id = f.Hash
	default:
		return ""
	}
	return fmt.Sprintf("%x-%x", id[:8], f.Size)
}

// Parse returns how long opening the file took, if it was fetched by this lookup.
func (f *Found) Parse() time.Duration {
	if f.file == nil {
		return 0
	}
	return f.file.parse
}

// File opens the file, and fetches it if only its meta is known. Both values are
// valid until Close.
func (f *Found) File(ctx context.Context) (*object.Object, bin.Source, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(ctx); err != nil {
		return nil, nil, err
	}
	obj := pick(f.file.file, f.Module)
	if f.mapping == nil {
		return obj, f.file.spool, nil
	}
	if err := f.mapping.open(ctx); err != nil { // the file is used without it
		if ctx.Err() != nil {
			return nil, nil, err
		}
		f.mapping.Close()
		f.mapping, f.mappingUntil = nil, f.l.now().Add(retryAfter)
		return obj, f.file.spool, nil
	}
	return obj.Mapped(f.mapping.file.mapping.Map), f.file.spool, nil
}

// open fetches the file, unless it is in use.
func (f *Found) open(ctx context.Context) error {
	if f.file != nil {
		return nil
	}
	file, _, err := f.l.get(ctx, target{source: f.source, candidate: f.candidate, meta: &f.Meta}, f.key, f.Checked)
	if err != nil {
		return err
	}
	// If the file cannot be fetched its meta stays, as its table may be stored.
	why := file.fault
	var meta *Meta
	if why == nil {
		meta = f.l.metaFor(ctx, file, f.Module, f.candidate.Public)
		why = meta.check(f.Module)
	}
	if why != nil {
		file.release()
		return why
	}
	f.Names, f.file = file.names, file
	if file.mapping != nil && meta.Hash != f.Hash { // another mapping of the same file
		file.markChecked(meta)
		f.Meta = *meta
		f.Record(ctx, f.Hash)
	}
	return nil
}

// Aux identifies the inputs of answers besides the file: the hidden names, and the
// mapping of its lines. It is zero without them, and does not change once the file
// is open.
func (f *Found) Aux() [32]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mapping == nil {
		return f.Names
	}
	return cache.KeyOf("il2cpp", string(f.Names[:]), string(f.mapping.Hash[:]))
}

// Expires returns when a failure of File expires.
func (f *Found) Expires(why *fault.Error) time.Time {
	return f.l.now().Add(f.l.life(why, f.candidate))
}

// Keep makes the file a kept original when it is released, unless the
// configuration excludes that. It is called while the file is open.
func (f *Found) Keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && f.l.keep != keepNone && !f.candidate.Local {
		f.file.keep.Store(true)
	}
}

// Record stores the meta of the file with its content hash, and the times of its last
// renewal, unless another state of the file is in use by now.
func (f *Found) Record(ctx context.Context, hash [32]byte) {
	meta := f.Meta
	if f.file != nil {
		if f.l.isReplaced(f.key, f.file) {
			return
		}
		if last := f.file.renewed.Load(); last != nil && last.Seen.After(meta.Checked) {
			meta.Checked, meta.Retry = last.Seen, last.Until
		}
	}
	meta.Hash = hash
	text, err := json.Marshal(meta)
	if err == nil {
		err = f.l.storeChecked(ctx, f.key, text)
	}
	if err != nil {
		f.l.log.Warn("cannot store the description of a file", "error", err)
	}
}

// Close releases the file.
func (f *Found) Close() {
	if f.file != nil {
		f.file.release()
	}
	if f.mapping != nil {
		f.mapping.Close()
	}
}

// Mapping returns the trail of the lookup of the mapping.
func (f *Found) Mapping() []Tried { return f.mappingTrail }

// until returns when the sources should be asked whether the file and its mapping
// have changed, or whether there is a mapping by now; zero if they never should.
func (f *Found) until() time.Time {
	end := f.l.renewal(&f.Meta)
	if end.IsZero() || !f.mappingUntil.IsZero() && f.mappingUntil.Before(end) {
		return f.mappingUntil
	}
	return end
}

// Freshness returns the freshness of the outcome of a lookup that began at seen.
// Without a file it is that of err, until the first failure of the trail expires.
func (l *Locator) Freshness(seen time.Time, found *Found, trail []Tried, err error) Freshness {
	first, hasFaults := firstExpiry(trail)
	if found != nil {
		until := found.until()
		if hasFaults {
			if until.IsZero() || first.Before(until) {
				until = first
			}
			until = later(until, l.now().Add(retryAfter))
		}
		return Freshness{Seen: seen, Until: until}
	}
	f := Freshness{Seen: seen, Until: first, Fault: fault.Of(err)}
	if _, shared := l.tier.(*cache.Layer); shared && f.Until.After(l.now().Add(maxShared)) {
		f.Until = l.now().Add(maxShared)
	}
	if f.Until.IsZero() || f.Fault.Kind == fault.Internal {
		f.Until = seen // it is not used a second time
	}
	return f
}

// firstExpiry returns when the first failure of a trail expires, which is zero if
// one is not remembered, and whether there are any faults.
func firstExpiry(trail []Tried) (first time.Time, hasFaults bool) {
	asked := false
	for i := range trail {
		t := &trail[i]
		if t.Fault == nil {
			continue
		}
		hasFaults = true
		if t.Location != "" && (!asked || t.Expires.Before(first)) {
			first, asked = t.Expires, true
		}
	}
	return first, hasFaults
}
