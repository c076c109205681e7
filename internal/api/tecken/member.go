package tecken

import (
	"context"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/store"
)

// zipped receives the members of a zip.
type zipped struct {
	ctx     context.Context
	store   *store.Store
	draft   *store.Draft
	project string

	mu      sync.Mutex
	sizes   map[string]int64 // of files by name
	known   map[int]string   // files that the project had already, by their numbers in the zip
	ignored map[int]string
}

// newZipped returns a zipped that adds members to a draft.
func (d *Door) newZipped(ctx context.Context, draft *store.Draft, project string) *zipped {
	return &zipped{
		ctx: ctx, store: d.Store, draft: draft, project: project,
		sizes: map[string]int64{}, known: map[int]string{}, ignored: map[int]string{},
	}
}

// add receives a member, or a file of an archive that is a member.
func (z *zipped) add(number int, name string, r io.Reader) error {
	if isIgnored(name) {
		return z.ignore(number, name)
	}
	if !isPath(name) {
		return api.Invalid("Unrecognized file pattern %.200q: should be <module>/<hex>/<file>, or <name>-symbols.txt, which is ignored", name)
	}
	record, err := z.draft.Add(z.ctx, name, r)
	var refused *store.Refusal
	switch {
	case errors.As(err, &refused) && isInBundle(name): // such as Info.plist
		return z.ignore(number, name)
	case errors.As(err, &refused):
		return api.Refuse(receive.Status(refused), "%v; leave it out of the zip, or replace it: nothing of the upload was stored", refused)
	case err != nil:
		return err
	}
	if id, ok := claimedID(name); ok && !has(record, id) {
		return api.Invalid("%.200q has the identifier %s by its path and %s by its content: no request for the first one would find it; "+
			"nothing of the upload was stored", name, id, strings.Join(idsOf(record), ", "))
	}
	found, err := z.store.Find(z.ctx, []string{z.project}, store.Question{SHA1: record.SHA1})
	if err != nil {
		return err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	size, isTwice := z.sizes[name]
	if isTwice && size != record.Size {
		return api.Invalid("The zipfile buffer contains two files both called %.200s and they have difference sizes (%d != %d)", name, size, record.Size)
	}
	z.sizes[name] = record.Size
	if len(found) > 0 && !isTwice {
		z.known[number] = name
	}
	return nil
}

// inOrder returns names in the order of the zip.
func inOrder(names map[int]string) []string {
	list := make([]string, 0, len(names))
	for _, number := range slices.Sorted(maps.Keys(names)) {
		list = append(list, names[number])
	}
	return list
}

// ignore notes a member that is not stored.
func (z *zipped) ignore(number int, name string) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.ignored[number] = name
	return nil
}

// isIgnored reports whether a member is one of those that accompany debug files.
func isIgnored(name string) bool {
	isList := !strings.Contains(name, "/") && strings.HasSuffix(strings.ToLower(name), "-symbols.txt")
	return isList || path.Base(name) == ".DS_Store" || strings.HasPrefix(name, "__MACOSX/")
}

// isInBundle reports whether a file is inside of a dSYM bundle, which has other files
// too.
func isInBundle(name string) bool { return strings.Contains(name, ".dSYM/") }

// isPath reports whether a name is a relative path of plain segments.
func isPath(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if ident.CheckFileName(segment) != nil {
			return false
		}
	}
	return true
}

// claimedID returns the identifier in a name of the form MODULE/HEX/FILE, which the
// names of files in archives continue.
func claimedID(name string) (id string, ok bool) {
	segments := strings.Split(name, "/")
	if len(segments) < 3 || strings.Trim(segments[1], "0123456789abcdefABCDEF") != "" {
		return "", false
	}
	return segments[1], true
}

// has reports whether a request with an identifier finds a file.
func has(record *store.Record, id string) bool {
	code := ident.ParseCodeID(id)
	debug, err := ident.ParseBreakpadID(id)
	for i := range record.Objects {
		o := &record.Objects[i]
		m := o.Module.Derive()
		kind := o.Kind
		if kind == source.ELFCode || kind == source.ELFDebug {
			kind = "elf"
		}
		if m.CodeID == code ||
			err == nil && !m.DebugID.IsZero() && source.IsSame(ident.Module{DebugID: m.DebugID}, kind, ident.Module{DebugID: debug}) {
			return true
		}
	}
	return false
}

// idsOf returns the identifiers of a file, as in paths.
func idsOf(record *store.Record) (ids []string) {
	for i := range record.Objects {
		m := record.Objects[i].Module.Derive()
		if !m.DebugID.IsZero() {
			ids = append(ids, m.DebugID.Breakpad())
		}
		if !m.CodeID.IsZero() {
			ids = append(ids, strings.ToUpper(m.CodeID.String()))
		}
	}
	return ids
}
