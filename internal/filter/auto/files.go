package auto

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/companion"
	"symbolon/internal/debugfile"
	"symbolon/internal/explain"
	"symbolon/internal/filter"
	"symbolon/internal/filter/maps"
	"symbolon/internal/filter/perf"
	"symbolon/internal/ident"
	"symbolon/internal/scratch"
)

// Files are debug files and programs of this machine.
type Files struct {
	Links scratch.Links // to them: a source with their symbols
	known map[string]ident.Module
	lists map[string]*maps.Map

	release string            // of the kernel whose modules are known
	modules map[string]string // their files by name
}

// Identify returns the identifiers of the first object of a file, and adds it.
func (f *Files) Identify(path string) (ident.Module, error) {
	path = companion.Unbundled(path)
	if m, ok := f.known[path]; ok {
		return m, nil
	}
	src, err := companion.OpenSource(path, nil)
	if err != nil {
		return ident.Module{}, err
	}
	defer src.Close()
	m, err := identify(src)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Links.Add(path); err != nil {
		return m, err
	}
	if id := m.CodeID.String(); m.Type == ident.TypeELF && len(id) > 2 {
		// The folder is not read at once for files that are added to it.
		if err := f.Links.AddAt(".build-id/"+id[:2]+"/"+id[2:], path); err != nil {
			return m, err
		}
	}
	if f.known == nil {
		f.known = map[string]ident.Module{}
	}
	f.known[path] = m
	return m, nil
}

// Has reports whether one of the files is that of a module.
func (f *Files) Has(m ident.Module) bool {
	for _, known := range f.known {
		if !m.CodeID.IsZero() && known.CodeID == m.CodeID || !m.DebugID.IsZero() && known.DebugID == m.DebugID {
			return true
		}
	}
	return false
}

// Names returns names that come from the lists of symbols among the files, and else
// from next.
func (f *Files) Names(next filter.Names) filter.Names {
	if f.lists == nil {
		return next
	}
	return &maps.Names{Next: next, Maps: f.lists}
}

// list reads a list of symbols; nil if the file has another format.
func list(path string) (*maps.Map, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	if head, _ := in.Peek(4096); !maps.Is(head) {
		return nil, nil
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	return maps.Read(text)
}

// Known returns the modules that texts name, as Named parses them.
func (f *Files) Known(texts []string) (map[string]ident.Module, error) {
	known := map[string]ident.Module{}
	for _, text := range texts {
		name, m, err := f.Named(text)
		if err != nil {
			return nil, err
		}
		known[name] = m
	}
	return known, nil
}

// Named parses NAME=FILE and NAME=ID, for a debug file, a list of symbols, a debug id
// or a build id.
func (f *Files) Named(text string) (name string, m ident.Module, err error) {
	name, what, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", m, fmt.Errorf("invalid module %q: must be NAME=FILE or NAME=ID", text)
	}
	if _, err = os.Stat(what); err == nil {
		known, err := list(what)
		if known != nil && err == nil {
			if f.lists == nil {
				f.lists = map[string]*maps.Map{}
			}
			f.lists[name] = known
			return name, ident.Module{CodeFile: name}, nil
		}
		if err == nil {
			m, err = f.Identify(what)
		}
		return name, m, err
	}
	m, err = explain.ParseModule(ident.FileName(name) + "/" + what)
	if err != nil {
		err = fmt.Errorf("invalid module %q: must be NAME=FILE or NAME=ID; %q is neither a file nor an identifier", text, what)
	}
	return name, m, err
}

func identify(src bin.Source) (ident.Module, error) {
	_, list, err := debugfile.Identify(src)
	if err != nil {
		return ident.Module{}, err
	}
	for _, m := range list {
		if m.Type == ident.TypePE && m.DebugID.IsZero() {
			return m, errors.New("the program has no debug id; link it with --build-id")
		}
		if !m.DebugID.IsZero() || !m.CodeID.IsZero() {
			return m, nil
		}
	}
	return ident.Module{}, errors.New("the file has no identifier; link it with --build-id")
}

// AddIDs adds the modules in a file of perf record to those that the user named, by
// path, and by file name if one file has it. Without a name it adds none.
func AddIDs(known map[string]ident.Module, name string) error {
	if name == "" {
		return nil
	}
	src, err := companion.OpenSource(name, nil)
	if err != nil {
		return err
	}
	defer src.Close()
	ids, err := perf.IDs(src.Source)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(ids) == 0 {
		return fmt.Errorf("%s: has no build ids; run: (perf buildid-list -i FILE; perf script -i FILE) | symbolon filter", name)
	}
	byName := map[string]ident.CodeID{}
	for file, id := range ids {
		base := path.Base(file)
		if other, ok := byName[base]; ok && other != id {
			id = ""
		}
		byName[base] = id
	}
	add := func(key string, id ident.CodeID) {
		if _, ok := known[key]; !ok && id != "" {
			known[key] = ident.Module{CodeID: id}
		}
	}
	for file, id := range ids {
		if _, ok := known[path.Base(file)]; !ok {
			add(file, id)
		}
	}
	for base, id := range byName {
		add(base, id)
	}
	return nil
}
