package locate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Meta is what stays known of a file when the file itself is gone.
type Meta struct {
	Module   ident.Module // as the file says
	Kind     string
	Type     string // what the file is for, as object tells it: "dbg", "exe", …
	Features object.Features
	VCS      string   `json:",omitempty"` // of its source server
	Damage   string   `json:",omitempty"` // the first that could not be read
	Hidden   bool     `json:",omitempty"` // names were hidden in it
	Names    [32]byte `json:",omitzero"`  // SHA-256 of the names that were hidden; zero: they are not known
	Size     int64
	// Validator identifies this state of the file, if the source has validators.
	// Checked is when the source was last asked for the file, and Retry is when
	// to ask again if that failed.
	Validator string    `json:",omitempty"`
	Checked   time.Time `json:",omitzero"`
	Retry     time.Time `json:",omitzero"`
	Hash      [32]byte  // SHA-256 of the content; zero until a table was made of it
}

// pick is the object of a file that m asks for, or else the first one.
func pick(f *object.File, m ident.Module) *object.Object {
	for _, o := range f.Objects() {
		if same(o.Info().Module, o.Info().Kind, m) {
			return o
		}
	}
	return f.Objects()[0]
}

func metaOf(o *object.Object, size int64) Meta {
	info := o.Info()
	meta := Meta{Module: info.Module, Kind: info.Kind, Type: info.Type, Features: info.Features, VCS: info.SourceServer, Size: size}
	if len(info.Damage) > 0 {
		meta.Damage = info.Damage[0].Kind
		if len(info.Damage[0].Places) > 0 {
			meta.Damage += ": " + info.Damage[0].Places[0]
		}
	}
	return meta
}

// check says whether the file is the one that m asks for, and of use. What a .sym
// file must have was judged when it was opened.
func (meta *Meta) check(m ident.Module) *fault.Error {
	if meta.Features == 0 && meta.Damage != "" && meta.Kind != source.Breakpad {
		return fault.New(fault.Malformed, "", "nothing in it can be used: %s", meta.Damage)
	}
	if same(meta.Module, meta.Kind, m) {
		return nil
	}
	return fault.New(fault.Malformed, "", "%s: asked for %s, the file says %s", fault.Mismatch, idText(m), idText(meta.Module))
}

func idText(m ident.Module) string {
	if m.DebugID.IsZero() && !m.CodeID.IsZero() {
		return m.CodeID.String()
	}
	return m.DebugID.Breakpad()
}

// same tells whether a file that says it is the one of has is the one of m. One
// identifier is enough; the debug id of an ELF file may have been made of its
// build id by either byte order. What tells nothing of itself may be anything.
func same(has ident.Module, kind string, m ident.Module) bool {
	codes := !has.CodeID.IsZero() && !m.CodeID.IsZero()
	if codes && has.CodeID == m.CodeID {
		return true
	}
	if m.DebugID.IsZero() {
		return !codes
	}
	if has.DebugID.IsZero() {
		return !codes
	}
	if has.DebugID == m.DebugID {
		return true
	}
	uuids := has.DebugID.UUID() == m.DebugID.UUID()
	switch {
	case m.Type == ident.TypeDotnet, kind == source.PortablePDB: // servers keep them below the age ffffffff
		return uuids
	case kind == source.PDB: // servers keep the newest of those that differ in the age only
		return uuids && has.DebugID.Age() >= m.DebugID.Age()
	case kind == "elf":
		return has.DebugID.Swapped() == m.DebugID
	case kind == source.IL2CPP:
		return uuids || has.DebugID.Swapped().UUID() == m.DebugID.UUID()
	}
	return false
}

// A meta is kept as JSON behind a checksum of it and of its key, in eight
// hexadecimal digits.
const sumSize = 8

func checksum(key cache.Key, text []byte) string {
	return fmt.Sprintf("%08x", crc32.Update(crc32.Checksum(key[:], bin.Castagnoli), bin.Castagnoli, text))
}

func (meta *Meta) write(w io.Writer, key cache.Key) error {
	text, err := json.Marshal(meta)
	if err == nil {
		_, err = io.WriteString(w, checksum(key, text)+string(text))
	}
	return err
}

func readMeta(src bin.Source, key cache.Key) (*Meta, error) {
	text, err := bin.Read(src, 0, int(min(src.Size(), maxMeta)))
	switch {
	case err != nil:
		return nil, err
	case len(text) < sumSize || string(text[:sumSize]) != checksum(key, text[sumSize:]):
		return nil, errors.New("its checksum does not match")
	}
	meta := &Meta{}
	return meta, json.Unmarshal(text[sumSize:], meta)
}

// maxMeta is more than a meta takes.
const maxMeta = 1 << 20

// Found is the file that was chosen. It must be closed.
type Found struct {
	Meta

	l         *Locator
	source    source.Source
	candidate source.Candidate
	key       cache.Key
	mu        sync.Mutex
	file      *fetched  // nil until somebody wants the file itself
	lines     *Found    // the mapping of its lines; nil: there is none
	asked     []Tried   // where one was looked for
	again     time.Time // when there may be another one; zero: that cannot be told
}

// Tag tells the file from others that its source may have had or will have; it
// is empty if nothing does.
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

// Parse is how long the reading of the file took, if it was read just now.
func (f *Found) Parse() time.Duration {
	if f.file == nil {
		return 0
	}
	return f.file.parse
}

// File opens the file itself, fetching it when only its meta was known. Both
// values are valid until Close.
func (f *Found) File(ctx context.Context) (*object.Object, bin.Source, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(ctx); err != nil {
		return nil, nil, err
	}
	obj := pick(f.file.file, f.Module)
	if f.lines == nil {
		return obj, f.file.spool, nil
	}
	if err := f.lines.open(ctx); err != nil { // the file answers without it
		if ctx.Err() != nil {
			return nil, nil, err
		}
		f.lines.Close()
		f.lines, f.again = nil, f.l.now().Add(retryAfter)
		return obj, f.file.spool, nil
	}
	return obj.Mapped(f.lines.file.mapping.Map), f.file.spool, nil
}

// open has the file itself there.
func (f *Found) open(ctx context.Context) error {
	if f.file != nil {
		return nil
	}
	file, _, err := f.l.get(ctx, asked{source: f.source, candidate: f.candidate, meta: &f.Meta}, f.key, f.Checked)
	if err != nil {
		return err
	}
	// What is known of the file stays known when it cannot be fetched now:
	// its table may still answer. But another file is not this one.
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
	if file.mapping != nil && meta.Hash != f.Hash { // another one, which will do
		file.vouch(meta)
		f.Meta = *meta
		if err := f.Record(context.WithoutCancel(ctx), f.Hash); err != nil {
			f.l.log.Warn("the meta of a file could not be kept", "error", err)
		}
	}
	return nil
}

// Aux tells apart what else than the file answers are made of: the names that
// were hidden in it, and the mapping of its lines. It is zero if there is
// nothing. Once the file is open it does not change.
func (f *Found) Aux() [32]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lines == nil {
		return f.Names
	}
	return cache.KeyOf("il2cpp", string(f.Names[:]), string(f.lines.Hash[:]))
}

// Expires is until when a failure to get the file itself holds, from now on.
func (f *Found) Expires(why *fault.Error) time.Time {
	return f.l.now().Add(f.l.life(why, f.candidate))
}

// Keep has the file itself kept once nobody uses it any more, unless the
// configuration forbids it. It is called while the file is open.
func (f *Found) Keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && f.l.keep != keepNone {
		f.file.keep.Store(true)
	}
}

// Record stores the meta of the file with its content hash. A later meta of the
// same state keeps its times, and one of another state is not replaced.
func (f *Found) Record(ctx context.Context, hash [32]byte) error {
	meta := f.Meta
	if stored, _ := f.l.remembered(ctx, f.key, &Tried{}); stored != nil && stored.Checked.After(meta.Checked) {
		if stored.Validator != meta.Validator || meta.Validator == "" {
			return nil
		}
		meta.Checked, meta.Retry = stored.Checked, stored.Retry
	}
	meta.Hash = hash
	blob, err := f.l.tier.Put(ctx, cache.Meta, f.key, func(w io.Writer) error { return meta.write(w, f.key) })
	if err != nil {
		return err
	}
	return blob.Close()
}

// Close lets go of the file.
func (f *Found) Close() {
	if f.file != nil {
		f.file.release()
	}
	if f.lines != nil {
		f.lines.Close()
	}
}
