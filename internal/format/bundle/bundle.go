package bundle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"path"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Magic is how a bundle begins.
const Magic = "SYSB"

const (
	version      = 2
	headerSize   = 8
	manifestName = "manifest.json"
	maxManifest  = 128 << 20
	maxRatio     = 200     // of a manifest to its packed size, beyond a first MiB
	maxValues    = 1 << 14 // attributes and links
)

// The types of files.
const (
	Source         = "source"
	MinifiedSource = "minified_source"
	SourceMap      = "source_map"
	RAMBundle      = "indexed_ram_bundle"
)

// File is what the manifest says of a file.
type File struct {
	Type      string
	Path      string
	URL       string
	DebugID   ident.DebugID // zero: none
	SourceMap string        // where the source map of a minified source is

	entry int
}

// Manifest is what a bundle says of itself.
type Manifest struct {
	// Attributes are "arch", "debug_id", "code_id", "object_name" and others.
	Attributes map[string]string
	// Links lead from paths to addresses in the web. A key may end in a star,
	// which stands in both for the same rest.
	Links map[string]string
}

// fileID is a debug id together with a type.
type fileID struct {
	id   ident.DebugID
	kind string
}

// Bundle is a bundle that is open.
type Bundle struct {
	Manifest

	src     bin.Source
	entries []entry
	files   []File
	byPath  map[string]int32
	byURL   map[string]int32
	byID    map[fileID]int32
	problem error
}

// Open reads the directory and the manifest of a bundle.
func Open(src bin.Source) (*Bundle, error) {
	head, err := bin.Read(src, 0, headerSize)
	if err != nil || string(head[:4]) != Magic {
		return nil, bad("header", "no source bundle")
	}
	if v := binary.LittleEndian.Uint32(head[4:]); v > version {
		return nil, fault.New(fault.Unsupported, "source bundle, header", "version %d", v)
	}
	b := &Bundle{src: src, byPath: map[string]int32{}, byURL: map[string]int32{}, byID: map[fileID]int32{}}
	b.entries, b.problem = directory(src)
	names := make(map[string]int, len(b.entries))
	for i := range b.entries {
		names[string(b.entries[i].name)] = i
	}
	at, ok := names[manifestName]
	if !ok {
		if b.problem != nil {
			return nil, b.problem
		}
		return nil, bad("manifest", "there is none")
	}
	text, err := b.entries[at].read(src, min(maxManifest, 1<<20+maxRatio*b.entries[at].size))
	if err != nil {
		return nil, err
	}
	if err := b.readManifest(text, names); err != nil {
		return nil, err
	}
	return b, nil
}

// readManifest reads the manifest, one file at a time.
func (b *Bundle) readManifest(text []byte, names map[string]int) error {
	b.Attributes, b.Links = map[string]string{}, map[string]string{}
	d := json.NewDecoder(bytes.NewReader(text))
	return object(d, func(key string) error {
		switch key {
		case "files":
			return object(d, func(name string) error { return b.readFile(d, name, names) })
		case "source_links":
			return object(d, func(from string) error {
				to, err := value(d)
				keep(b.Links, from, to)
				return err
			})
		}
		s, err := value(d)
		keep(b.Attributes, key, s)
		return err
	})
}

func keep(m map[string]string, key, s string) {
	if s != "" && len(m) < maxValues {
		m[key] = s
	}
}

// object reads an object and calls field at each of its keys.
func object(d *json.Decoder, field func(key string) error) error {
	t, err := d.Token()
	if err == nil && t == nil {
		return nil // null, which some write for what they do not know
	}
	if err == nil && t != json.Delim('{') {
		err = bad("manifest", "no object at offset %#x", d.InputOffset())
	}
	for err == nil && d.More() {
		if t, err = d.Token(); err == nil {
			err = field(t.(string)) // the decoder lets nothing else be a key
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	return broken(d, err)
}

// value reads a value, which counts if it is a string.
func value(d *json.Decoder) (string, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return "", broken(d, err)
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) != nil {
		s = ""
	}
	return s, nil
}

func broken(d *json.Decoder, err error) error {
	if _, ok := err.(*fault.Error); err == nil || ok {
		return err
	}
	return bad("manifest", "%w at offset %#x", err, d.InputOffset())
}

// readFile reads what the manifest says of the entry with a name. An entry is
// one file: what names it again is passed over.
func (b *Bundle) readFile(d *json.Decoder, name string, names map[string]int) error {
	var f File
	err := object(d, func(key string) error {
		if key == "headers" {
			return object(d, func(key string) error {
				s, err := value(d)
				switch strings.ToLower(key) {
				case "debug-id":
					f.DebugID, _ = ident.ParseDebugID(s)
				case "sourcemap":
					f.SourceMap = s
				}
				return err
			})
		}
		s, err := value(d)
		switch key {
		case "type":
			f.Type = s
		case "path":
			f.Path = s
		case "url":
			f.URL = s
		}
		return err
	})
	if err != nil {
		return err
	}
	at, ok := names[name]
	if !ok {
		if b.problem == nil {
			b.problem = bad("manifest", "file %q is not in the archive, or listed twice", name)
		}
		return nil
	}
	delete(names, name)
	f.entry = at
	b.index(f)
	return nil
}

// index adds a file. The first of several with the same name counts.
func (b *Bundle) index(f File) {
	n := int32(len(b.files))
	b.files = append(b.files, f)
	if f.Path != "" {
		first(b.byPath, slashed(f.Path), n)
	}
	if f.URL != "" {
		first(b.byURL, f.URL, n)
	}
	if !f.DebugID.IsZero() {
		first(b.byID, fileID{f.DebugID, f.Type}, n)
	}
}

func first[K comparable](m map[K]int32, key K, n int32) {
	if _, ok := m[key]; !ok {
		m[key] = n
	}
}

// Normal is a path as paths are compared: without "." and "..", and with slashes.
func Normal(p string) string { return path.Clean(slashed(p)) }

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// Problem is the first thing that is wrong with the bundle, or nil. What Files
// lists can be had all the same.
func (b *Bundle) Problem() error { return b.problem }

// Files lists the files, in the order of the manifest.
func (b *Bundle) Files() []File { return b.files }

// ByPath is the file of a path, in the spelling of Windows or not: of the path
// as it is, or else without "." and "..". Writers clean the paths of a manifest;
// one that they did not is found only as it is there, as symbolic has it.
func (b *Bundle) ByPath(path string) (File, bool) {
	if f, ok := at(b, b.byPath, slashed(path)); ok {
		return f, true
	}
	return at(b, b.byPath, Normal(path))
}

// ByURL is the file of an address in the web.
func (b *Bundle) ByURL(url string) (File, bool) { return at(b, b.byURL, url) }

// ByDebugID is the file of a type that has a debug id.
func (b *Bundle) ByDebugID(id ident.DebugID, kind string) (File, bool) {
	return at(b, b.byID, fileID{id, kind})
}

func at[K comparable](b *Bundle, m map[K]int32, key K) (File, bool) {
	n, ok := m[key]
	if !ok {
		return File{}, false
	}
	return b.files[n], true
}

// Text is the content of a file of this bundle. More than limit bytes are an
// error.
func (b *Bundle) Text(f File, limit int64) ([]byte, error) {
	return b.entries[f.entry].read(b.src, limit)
}
