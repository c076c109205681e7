package locate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Meta describes a file. It is stored, and remains when the file is closed.
type Meta struct {
	Module   ident.Module // as stated in the file
	Kind     string
	Type     string // the type of the object: "dbg", "exe", …
	Features object.Features
	VCS      string   `json:",omitempty"` // of its source server
	Damage   string   `json:",omitempty"` // the first part that cannot be read
	Hidden   bool     `json:",omitempty"` // it has hidden names
	Names    [32]byte `json:",omitzero"`  // SHA-256 of the list of these names; zero: not known
	Size     int64
	// Validator identifies this state of the file, if the source has validators.
	// Checked is when the source was last asked for the file, and Retry is when
	// to ask again if that failed.
	Validator string    `json:",omitempty"`
	Checked   time.Time `json:",omitzero"`
	Retry     time.Time `json:",omitzero"`
	Hash      [32]byte  // SHA-256 of the content; zero until its table is built
}

// pick returns the object of a file that m asks for, or else the first one.
func pick(f *object.File, m ident.Module) *object.Object {
	for _, o := range f.Objects() {
		if isSame(o.Info().Module, o.Info().Kind, m) {
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

// check returns a fault if the file is not the one that m asks for, or unusable.
// Opening a .sym file has checked its records.
func (meta *Meta) check(m ident.Module) *fault.Error {
	if meta.Features == 0 && meta.Damage != "" && meta.Kind != source.Breakpad {
		return fault.New(fault.Malformed, "", "unusable file: %s", meta.Damage)
	}
	if isSame(meta.Module, meta.Kind, m) {
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

// isSame reports whether a file with the identifiers of has is the one of m. One
// equal identifier is enough. The debug id of an ELF file may have been derived
// from its build id in either byte order. A file without identifiers matches.
func isSame(has ident.Module, kind string, m ident.Module) bool {
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
	case kind == source.PDB: // of PDBs that differ only in age, servers keep the newest
		return uuids && has.DebugID.Age() >= m.DebugID.Age()
	case kind == "elf":
		return has.DebugID.Swapped() == m.DebugID
	case kind == source.IL2CPP:
		return uuids || has.DebugID.Swapped().UUID() == m.DebugID.UUID()
	}
	return false
}

// Metas, as JSON, and build ids are stored after a checksum of their key and text, in
// eight hex digits.
const sumSize = 8

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

// maxMeta bounds the size of a stored text.
const maxMeta = 1 << 20

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
