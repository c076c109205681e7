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

// Magic is the start of a bundle.
const Magic = "SYSB"

const (
	version      = 2
	headerSize   = 8
	manifestName = "manifest.json"
	maxManifest  = 128 << 20
	maxRatio     = 200     // of a manifest to its packed size, after the first MiB
	maxValues    = 1 << 14 // limit of attributes, and of links
)

// Types of files.
const (
	Source         = "source"
	MinifiedSource = "minified_source"
	SourceMap      = "source_map"
	RAMBundle      = "indexed_ram_bundle"
)

// File is an entry of the manifest.
type File struct {
	Type      string
	Path      string
	URL       string
	DebugID   ident.DebugID // zero if the file has none
	SourceMap string        // path or URL of the source map of a minified source

	entry int
}

// Manifest is the description of a bundle.
type Manifest struct {
	// Attributes are "arch", "debug_id", "code_id", "object_name" and others.
	Attributes map[string]string
	// Links map paths to URLs. A key may end in a star, matching the
	// same suffix in both.
	Links map[string]string
}

// fileID is a debug id with a type of file.
type fileID struct {
	id   ident.DebugID
	kind string
}

// A Bundle is an open source bundle.
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
		return nil, malformed("header", "invalid magic")
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
		return nil, malformed("manifest", "manifest.json is missing")
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

// readManifest reads the manifest as a stream, one file at a time.
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
				setValue(b.Links, from, to)
				return err
			})
		}
		s, err := value(d)
		setValue(b.Attributes, key, s)
		return err
	})
}

func setValue(m map[string]string, key, s string) {
	if s != "" && len(m) < maxValues {
		m[key] = s
	}
}

// object reads a JSON object and calls field for each of its keys.
func object(d *json.Decoder, field func(key string) error) error {
	t, err := d.Token()
	if err == nil && t == nil {
		return nil // null: some writers use it for unknown values
	}
	if err == nil && t != json.Delim('{') {
		err = malformed("manifest", "invalid value at offset %#x: must be an object", d.InputOffset())
	}
	for err == nil && d.More() {
		if t, err = d.Token(); err == nil {
			err = field(t.(string)) // the decoder accepts only strings as keys
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	return wrapError(d, err)
}

// value reads a value. It returns "" unless the value is a string.
func value(d *json.Decoder) (string, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return "", wrapError(d, err)
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) != nil {
		s = ""
	}
	return s, nil
}

func wrapError(d *json.Decoder, err error) error {
	if _, ok := err.(*fault.Error); err == nil || ok {
		return err
	}
	return malformed("manifest", "%w at offset %#x", err, d.InputOffset())
}

// readFile reads the manifest's description of the entry with a name. Each
// entry is one file; a second description of it is ignored.
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
			b.problem = malformed("manifest", "file %q is missing from the archive, or listed twice", name)
		}
		return nil
	}
	delete(names, name)
	f.entry = at
	b.index(f)
	return nil
}

// index adds a file. The first file of a path, URL or id wins.
func (b *Bundle) index(f File) {
	n := int32(len(b.files))
	b.files = append(b.files, f)
	if f.Path != "" {
		setFirst(b.byPath, toSlash(f.Path), n)
	}
	if f.URL != "" {
		setFirst(b.byURL, f.URL, n)
	}
	if !f.DebugID.IsZero() {
		setFirst(b.byID, fileID{f.DebugID, f.Type}, n)
	}
}

func setFirst[K comparable](m map[K]int32, key K, n int32) {
	if _, ok := m[key]; !ok {
		m[key] = n
	}
}

// Normal returns a path in the form in which paths are compared: with slashes,
// and without "." and "..".
func Normal(p string) string { return path.Clean(toSlash(p)) }

func toSlash(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// Problem returns the first damage of the bundle, or nil. Files lists only
// files that are not affected.
func (b *Bundle) Problem() error { return b.problem }

// Files lists the files in the order of the manifest.
func (b *Bundle) Files() []File { return b.files }

// ByPath returns the file of a path, with slashes or backslashes: of the exact
// path, or else of the path without "." and "..". Writers clean the paths of a
// manifest; a path that is not clean is found only in its exact form, as by
// symbolic.
func (b *Bundle) ByPath(path string) (File, bool) {
	if f, ok := at(b, b.byPath, toSlash(path)); ok {
		return f, true
	}
	return at(b, b.byPath, Normal(path))
}

// ByURL returns the file of a URL.
func (b *Bundle) ByURL(url string) (File, bool) { return at(b, b.byURL, url) }

// ByDebugID returns the file of a type with a debug id.
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

// Text returns the content of a file of this bundle. It fails if that exceeds
// limit bytes.
func (b *Bundle) Text(f File, limit int64) ([]byte, error) {
	return b.entries[f.entry].read(b.src, limit)
}
