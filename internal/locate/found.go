package locate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
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

	l         *Locator
	source    source.Source
	candidate source.Candidate
	key       cache.Key
	mu        sync.Mutex
	file      *fetched       // nil until File
	obj       *object.Object // of the file; nil until File
	space     bin.Space      // of obj; nil if it is that of the file
	parts     []*part        // that are found
	mapping   *Found         // of its lines; nil if not found
	others    []Tried        // attempts to find the parts and the mapping
	again     time.Time      // when to look for these again; zero: never
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

// Name returns the name of the file at its source.
func (f *Found) Name() string { return cmp.Or(f.candidate.Name, path.Base(f.candidate.Path)) }

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
	obj, err := f.whole(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.mapping == nil {
		return obj, f.file.spool, nil
	}
	if err := f.mapping.open(ctx); err != nil { // the file is used without it
		if ctx.Err() != nil {
			return nil, nil, err
		}
		f.mapping.Close()
		f.mapping = nil
		f.lookAgain(f.l.now().Add(retryAfter))
		return obj, f.file.spool, nil
	}
	return obj.Mapped(f.mapping.file.mapping.Map), f.file.spool, nil
}

// Content returns the bytes of the file, and fetches it if only its meta is known.
// They are valid until Close.
func (f *Found) Content(ctx context.Context) (bin.Source, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	return f.file.spool, nil
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
		meta = file.metaFor(f.Module)
		why = meta.check(f.Module)
	}
	if why != nil {
		file.release()
		return why
	}
	f.Base, f.file = file.base, file
	if (file.mapping != nil || file.isPart) && meta.Hash != f.Hash { // another mapping or part of the same file
		file.markChecked(meta)
		f.Meta = *meta
		f.Record(ctx, f.Hash)
	}
	return nil
}

// Aux identifies the inputs of answers besides the file: the base of its addresses,
// the contents of its parts, the mapping of its lines, and that they have columns. It
// is zero without them, and does not change once the file is open.
func (f *Found) Aux() [32]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := f.Base
	if len(f.parts) > 0 {
		contents := []string{"parts", string(id[:])}
		for _, p := range f.parts {
			contents = append(contents, p.need.Kind.String(), string(p.file.Hash[:]))
		}
		id = cache.KeyOf(contents...)
	}
	if f.mapping != nil {
		id = cache.KeyOf("il2cpp", string(id[:]), string(f.mapping.Hash[:]))
	}
	if f.l.columns {
		id = cache.KeyOf("columns", string(id[:]))
	}
	return id
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
	for _, p := range f.parts {
		p.file.Close()
	}
	if f.space != nil {
		_ = f.space.Close() // it is not used any more
	}
	if f.mapping != nil {
		f.mapping.Close()
	}
}

// Others returns the trail of the lookups of the parts of the file and of its mapping.
func (f *Found) Others() []Tried { return f.others }

// Spooled returns the bytes of the open file and its parts.
func (f *Found) Spooled() (size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parts {
		size += p.file.Size
	}
	return size + f.Size
}

// tell adds attempts to find other files to the trail, and schedules another search for
// these files when the first failure expires, at least a minute later.
func (f *Found) tell(told []Tried) {
	for _, t := range told {
		if t.Fault != nil && t.Location != "" {
			f.lookAgain(later(t.Expires, f.l.now().Add(time.Minute)))
		}
	}
	f.others = append(f.others, told[:min(len(told), maxTold)]...)
}

// lookAgain schedules another search for the parts and the mapping, unless the time is
// zero or later than the scheduled one.
func (f *Found) lookAgain(at time.Time) {
	if !at.IsZero() && (f.again.IsZero() || at.Before(f.again)) {
		f.again = at
	}
}

// until returns when the sources should be asked whether the file, its parts and its
// mapping have changed, or whether there are more by now; zero if they never should.
func (f *Found) until() time.Time {
	end := f.l.renewal(&f.Meta)
	if end.IsZero() || !f.again.IsZero() && f.again.Before(end) {
		return f.again
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
		f := Freshness{Seen: seen, Until: until}
		for _, n := range found.Needs {
			if n.Kind == object.NeedAlt {
				f.parts = append(f.parts, ids(n.module())...)
			}
		}
		return f
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
