package tree

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

const (
	maxIndexed  = 100_000          // files of one folder
	maxSameID   = 64               // files that have one id
	maxSampled  = 256              // folders, and names in each, that show the layout
	indexWait   = 10 * time.Second // how long questions wait, from the beginning of the reading on
	indexTime   = time.Hour        // to read all files once
	indexFactor = 20               // a folder is read again after this times as long as that takes
	buildIDs    = ".build-id"
	inBundle    = "Contents/Resources/DWARF/" // the debug files of a .dSYM folder
)

// lister is a bucket that can list its folders.
type lister interface {
	ReadFolder(folder string, yield func(name string, isFolder bool) bool) error
}

// folder has the contents of a source without a layout, by its top two levels.
type folder struct {
	sites []site              // other layouts than the native one
	files map[string]file     // of the top level and in bundles, by name
	byID  map[string][]string // their names, by the ids in them
	more  bool                // there are more files than are indexed
	same  bool                // there are more files of one id than are indexed
	err   error               // of a file that was not read
	took  time.Duration       // to read it
}

// site is a layout that a folder has, perhaps in a folder below.
type site struct {
	below  string
	layout source.Layout
	kinds  []string // empty: all
}

// file is a file of the top level or in a bundle.
type file struct {
	version string
	kind    string // format; empty: a file without ids
	modules []ident.Module
}

// contents returns the contents of the folder. Lookups make it read the folder again,
// within a share of the time; a file that did not change is not opened again. An error
// returned with a folder is the reason why it may be incomplete.
func (s *Source) contents(ctx context.Context) (*folder, error) {
	wait := s.wait
	if began := s.began.Load(); began != 0 {
		wait -= s.now().Sub(time.Unix(0, began))
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	f, err := source.Keep(waiting, s.shelf, source.Request[*folder]{
		Owner: s, Source: s.cfg.ID, Name: "folder", Retry: time.Second, Limit: indexTime,
		Life: func(f *folder) time.Duration { return indexFactor * f.took },
		Make: s.readFolder,
	})
	switch {
	case err == nil && f.more:
		return f, fault.New(fault.NotFound, s.place, "the folder has more than %d files: the others are not found by their ids", maxIndexed)
	case err == nil && f.same:
		return f, fault.New(fault.NotFound, s.place, "the folder has more than %d files with one id: the others are not looked at", maxSameID)
	case err == nil && f.err != nil:
		return f, fault.New(fault.NotFound, s.place, "a file of the folder could not be read, so that its ids are unknown: %w", f.err)
	case err == nil:
		return f, nil
	case ctx.Err() != nil || waiting.Err() == nil:
		return nil, err
	}
	if old := s.last.Load(); old != nil {
		return old, nil // until it is read again
	}
	return &folder{}, fault.New(fault.Timeout, s.place, "the files of the folder are still being indexed: try again")
}

// readFolder reads the top two levels of the folder, and the ids of its files and of
// those in bundles. A folder that cannot be read has nothing.
func (s *Source) readFolder(ctx context.Context) (*folder, int64, error) {
	start := s.now()
	s.began.Store(start.UnixNano())
	defer s.began.Store(0)
	f := &folder{files: map[string]file{}, byID: map[string][]string{}}
	var folders []string
	bundles := []string{""} // the folder may be one itself
	size := int64(0)
	add := func(name string) bool {
		if len(f.files) == maxIndexed {
			f.more = true
		} else {
			size += s.addFile(ctx, f, name)
		}
		return ctx.Err() == nil
	}
	_ = s.lister.ReadFolder("", func(name string, isFolder bool) bool {
		switch {
		case isFolder && strings.HasSuffix(name, ".dSYM"):
			if len(bundles) > maxIndexed {
				f.more = true
			} else {
				bundles = append(bundles, name+"/")
			}
		case isFolder && len(folders) < maxSampled:
			folders = append(folders, name)
		case !isFolder:
			return add(name)
		}
		return ctx.Err() == nil
	})
	for _, bundle := range bundles {
		_ = s.lister.ReadFolder(bundle+inBundle, func(name string, isFolder bool) bool {
			return isFolder || add(bundle+inBundle+name)
		})
	}
	f.sites = s.recognise(f, folders)
	f.took = s.now().Sub(start)
	s.last.Store(f)
	return f, size, ctx.Err()
}

// addFile adds a file of the top level or of a bundle, and returns about how much
// memory that takes.
func (s *Source) addFile(ctx context.Context, f *folder, name string) int64 {
	attrs, err := s.bucket.Stat(ctx, name)
	if err != nil {
		return 0 // it went away, or it is a link to elsewhere
	}
	x := file{version: attrs.Version}
	if old := s.last.Load(); old != nil && old.files[name].version == x.version {
		x = old.files[name]
	} else {
		b := &blob{ctx: ctx, bucket: s.bucket, key: name, size: attrs.Size}
		x.kind, x.modules, err = debugfile.Identify(b)
		switch {
		case b.err != nil && fault.KindOf(b.err) == fault.NotFound:
			return 0 // it was removed
		case b.err != nil: // without a version it is read again next time
			x, f.err = file{}, cmp.Or(f.err, b.err)
		case err != nil:
			x.kind, x.modules = "", nil // most files are not debug files
		}
	}
	f.files[name] = x
	for _, m := range x.modules {
		for _, id := range idsOf(m) {
			switch {
			case slices.Contains(f.byID[id], name):
			case len(f.byID[id]) == maxSameID:
				f.same = true
			default:
				f.byID[id] = append(f.byID[id], name)
			}
		}
	}
	return int64(len(name) + 256)
}

// idsOf returns the ids of a module by which files are looked up. Byte order and
// age are compared when the file is read.
func idsOf(m ident.Module) (list []string) {
	if !m.DebugID.IsZero() {
		uuid := m.DebugID.UUID()
		list = append(list, hex.EncodeToString(uuid[:]))
	}
	if !m.CodeID.IsZero() {
		list = append(list, "code "+m.CodeID.String())
	}
	return list
}

// recognise finds the layouts of a folder, by the names in it and in its folders.
func (s *Source) recognise(f *folder, folders []string) (list []site) {
	err := s.lister.ReadFolder(buildIDs, func(string, bool) bool { return false })
	if err == nil || errors.Is(err, bucket.ErrLink) { // whose files are refused with that reason
		list = append(list, site{below: buildIDs + "/", layout: s.as(source.Native), kinds: []string{source.ELFDebug, source.ELFCode}})
	}
	store, unified := false, false
	for _, top := range folders {
		names := 0
		_ = s.lister.ReadFolder(top, func(name string, isFolder bool) bool {
			store = store || isFolder && (strings.HasPrefix(name, "elf-buildid-") || strings.HasPrefix(name, "mach-uuid-"))
			unified = unified || isFolder && len(top) == 2 && len(name) > 2 && hexadecimal(top) && hexadecimal(name)
			names++
			return names < maxSampled
		})
	}
	if _, tiers := f.files[source.Index2]; tiers {
		list = append(list, site{layout: s.as(source.TwoTiers)})
	} else if store {
		list = append(list, site{layout: s.as(source.Symstore)})
	}
	if unified {
		list = append(list, site{layout: s.as(source.Unified)})
	}
	return list
}

// as returns a layout with the casing of the source.
func (s *Source) as(layout string) source.Layout {
	return source.Layout{Type: layout, Casing: s.cfg.Layout.Casing}
}

func hexadecimal(text string) bool { return strings.Trim(text, "0123456789abcdefABCDEF") == "" }

// add adds the places of the files of a kind for m to those of the native
// layout.
func (f *folder) add(list []string, m ident.Module, kind string) []string {
	for _, p := range f.sites {
		if len(p.kinds) > 0 && !slices.Contains(p.kinds, kind) {
			continue
		}
		for _, path := range p.layout.Paths(m, kind) {
			if path = p.below + path; !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// kindsOf returns the kinds of file that a format may be, in order of preference.
var kindsOf = map[string][]string{
	"breakpad": {source.Breakpad}, "elf": {source.ELFDebug, source.ELFCode}, "macho": {source.MachDebug, source.MachCode},
	"pe": {source.PE}, "pdb": {source.PDB}, "portablepdb": {source.PortablePDB, source.PDB}, "wasm": {source.WasmDebug, source.WasmCode},
	"sourcebundle": {source.SourceBundle},
}

// named returns the indexed files that have an id of m, with the kind among
// these that each is asked for as.
func (s *Source) named(f *folder, m ident.Module, kinds []string) (list []source.Candidate) {
	other := m
	other.DebugID, other.CodeID = m.DebugID.Swapped(), ""
	seen := map[string]bool{}
	for _, id := range slices.Concat(idsOf(m), idsOf(other)) {
		for _, name := range f.byID[id] {
			i := slices.IndexFunc(kindsOf[f.files[name].kind], func(kind string) bool {
				return slices.Contains(kinds, kind) && s.cfg.Wants(m, kind)
			})
			if i < 0 || seen[name] || !source.IsNamed(f.files[name].kind, name, m) {
				continue
			}
			seen[name] = true
			list = append(list, s.candidate(kindsOf[f.files[name].kind][i], name))
		}
	}
	return list
}

// window is the smallest read of a file: its ids are close together, and each read
// opens the file again.
const window = 16 << 10

// blob is a file of a bucket as bytes with random access, for one goroutine.
type blob struct {
	ctx    context.Context
	bucket bucket.Bucket
	key    string
	size   int64

	at   int64 // of near
	near []byte
	err  error // the first failure to read bytes that the file has
}

func (b *blob) Size() int64 { return b.size }

func (b *blob) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > b.size || int64(len(p)) > b.size-off {
		return 0, io.EOF // after the end of the file
	}
	if len(p) > window {
		return b.get(p, off)
	}
	if off < b.at || off+int64(len(p)) > b.at+int64(len(b.near)) {
		if b.near == nil {
			b.near = make([]byte, 0, 2*window)
		}
		b.at = off - off%window
		n, err := b.get(b.near[:min(int64(2*window), b.size-b.at)], b.at)
		if b.near = b.near[:n]; err != nil {
			return 0, err
		}
	}
	return copy(p, b.near[off-b.at:]), nil
}

// get reads bytes that the file has, if it was not truncated.
func (b *blob) get(p []byte, off int64) (n int, err error) {
	defer func() { b.err = cmp.Or(b.err, err) }()
	r, _, err := b.bucket.Get(b.ctx, b.key, off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	n, err = io.ReadFull(r, p)
	_ = r.Close() // it was only read
	return n, err
}
