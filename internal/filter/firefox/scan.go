package firefox

import (
	"cmp"
	"slices"

	"symbolon/internal/fault"
	"symbolon/internal/filter/rawjson"
	"symbolon/internal/ident"
)

// The versions whose tables are known.
const (
	minVersion = 42 // nativeSymbols has functionSize, libs are those of the profile
	maxVersion = 70
)

// A library is an element of libs.
type library struct {
	path   string
	module ident.Module
}

// A section is an object that may have tables: shared, or a thread.
type section struct {
	frames, funcs, symbols, stacks, resources, sources *table
	strings                                            *stringArray
	stackLists                                         []span // arrays of indexes of stacks
	markers                                            []span // arrays of the data of markers
}

// A profile has the parts of the document that change.
type profile struct {
	data         []byte
	version      int64 // -1: none
	isGecko      bool  // it has the version of a profile of Firefox itself
	metaAt       int   // of the first member of meta
	symbolicated span  // in meta; empty if it is absent
	libs         []library
	shared       section
	threads      []section
}

func scanProfile(data []byte) (*profile, error) {
	p := &profile{data: data, version: -1}
	r := rawjson.Reader{Data: data}
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "meta":
			p.scanMeta(&r)
		case "libs":
			for r.Enter('['); r.Next(); {
				p.libs = append(p.libs, scanLibrary(&r))
			}
		case "shared":
			p.shared = scanSection(&r)
		case "threads":
			for r.Enter('['); r.Next(); {
				p.threads = append(p.threads, scanSection(&r))
			}
		default:
			r.Skip()
		}
	}
	if r.End(); r.Err != nil {
		return nil, r.Err
	}
	return p, nil
}

func (p *profile) scanMeta(r *rawjson.Reader) {
	r.Peek()
	first := r.Pos + 1
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "preprocessedProfileVersion":
			if v, ok := r.Int(); ok {
				p.version, p.metaAt = v, first
			}
		case "version":
			p.isGecko = true
			r.Skip()
		case "symbolicated":
			p.symbolicated = skip(r)
		default:
			r.Skip()
		}
	}
}

// checkVersion refuses the versions whose tables have other members. Newer ones
// are accepted if the columns that are needed are there.
func (p *profile) checkVersion() error {
	switch {
	case p.version < 0:
		return fault.New(fault.Malformed, "Firefox profile", "meta lacks preprocessedProfileVersion")
	case p.version < minVersion:
		return fault.New(fault.Unsupported, "Firefox profile",
			"version %d: must be %d or newer; open it at profiler.firefox.com and save it again", p.version, minVersion)
	case p.version > maxVersion && !p.shared.isKnown():
		return fault.New(fault.Unsupported, "Firefox profile",
			"version %d has tables of an unknown form: must be %d or older", p.version, maxVersion)
	}
	return nil
}

// isKnown reports whether the tables are like those of the newest known version.
func (s *section) isKnown() bool {
	return s.frames.has("address", "lib", "inlineDepth", "func", "nativeSymbol", "line", "column") &&
		s.funcs.has("name", "resource", "source") && s.symbols.has("libIndex", "address", "name", "functionSize") &&
		s.stacks.has("frame", "prefixOffset") && s.sources.has("id", "filename") && s.strings != nil
}

func (t *table) has(names ...string) bool {
	return t != nil && !slices.ContainsFunc(names, func(name string) bool { return t.find(name) == nil })
}

func scanLibrary(r *rawjson.Reader) (l library) {
	for r.Enter('{'); r.Next(); {
		l.scan(r, string(r.Key()))
	}
	return l
}

// scan reads a member of a library.
func (l *library) scan(r *rawjson.Reader, key string) {
	switch key {
	case "path":
		l.path = string(r.Text())
	case "name":
		l.module.CodeFile = string(r.Text())
	case "debugName":
		l.module.DebugFile = string(r.Text())
	case "breakpadId":
		l.module.DebugID, _ = ident.ParseBreakpadID(string(r.Text()))
	case "codeId":
		l.module.CodeID = ident.ParseCodeID(string(r.Text()))
	default:
		r.Skip()
	}
}

// place returns the path of the library, or its name if that is all there is.
func (l *library) place() string { return cmp.Or(l.path, l.module.CodeFile) }

func scanSection(r *rawjson.Reader) (s section) {
	for r.Enter('{'); r.Next(); {
		switch key := string(r.Key()); key {
		case "frameTable":
			s.frames = scanTable(r, key)
		case "funcTable":
			s.funcs = scanTable(r, key)
		case "nativeSymbols":
			s.symbols = scanTable(r, key)
		case "stackTable":
			s.stacks = scanTable(r, key)
		case "resourceTable":
			s.resources = scanTable(r, key)
		case "sources":
			s.sources = scanTable(r, key)
		case "stringArray":
			if r.Peek() == '[' {
				s.strings = &stringArray{data: r.Data, span: skip(r)}
			} else {
				r.Skip()
			}
		case "samples", "jsAllocations", "nativeAllocations":
			s.stackLists = append(s.stackLists, scanArrays(r, "stack")...)
		case "markers":
			s.markers = append(s.markers, scanArrays(r, "data")...)
		default:
			r.Skip()
		}
	}
	return s
}

// scanArrays returns the members of an object that have a name and are arrays.
func scanArrays(r *rawjson.Reader, name string) (list []span) {
	for r.Enter('{'); r.Next(); {
		if string(r.Key()) == name && r.Peek() == '[' {
			list = append(list, skip(r))
		} else {
			r.Skip()
		}
	}
	return list
}
