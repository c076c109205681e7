package sentry

import (
	"io"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// File is an open debug file.
type File interface {
	bin.Source
	Tag() string // identifies the content; "": unknown
	Close() error
}

// proxy serves files of the configured sources in the layout of symbol servers,
// which need not be that of the source.
func (d *Door) proxy(w http.ResponseWriter, r *http.Request) {
	c, ok := d.identify(w, r)
	if !ok {
		return
	}
	scope, err := c.scope("")
	if err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return
	}
	m, kind := parsePath(r.PathValue("rest"))
	if kind == "" || d.cfg.DisableProxy {
		api.FailBare(w, r, http.StatusNotFound, "")
		return
	}
	f, err := d.deps.File(r.Context(), Search{Scope: scope, Only: c.sources()}, m, kind)
	if err != nil {
		d.refuseFile(w, r, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	if tag := f.Tag(); tag != "" {
		w.Header().Set("ETag", `"`+tag+`"`)
	}
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, 0, f.Size()))
}

// refuseFile answers that a file cannot be served. Clients of symbol servers
// distinguish a missing file from a source that fails.
func (d *Door) refuseFile(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := api.Status(err)
	if status == http.StatusInternalServerError {
		d.deps.Log.Error("cannot open a file", "request_id", api.RequestID(r.Context()), "error", err)
	}
	api.FailBare(w, r, status, "")
}

// parsePath returns the module and the kind of file of a path on a symbol server.
// The kind is empty for an invalid path.
//
//	NAME/KEY/NAME     in any case of letters
//	NAME/ID/NAME.sym  of Breakpad
//	NA/NAME/KEY/NAME  in two tiers
func parsePath(path string) (ident.Module, string) {
	parts := strings.Split(path, "/")
	if len(parts) == 4 && source.TwoTier(strings.Join(parts[1:], "/")) == path {
		parts = parts[1:]
	}
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return ident.Module{}, ""
	}
	name, key, file := parts[0], parts[1], parts[2]
	if file == ident.SymName(name) {
		id, err := ident.ParseBreakpadID(key)
		if err != nil {
			return ident.Module{}, ""
		}
		return ident.Module{DebugFile: name, DebugID: id, DebugIDText: key}, source.Breakpad
	}
	if !strings.EqualFold(name, file) {
		return ident.Module{}, ""
	}
	return byKey(name, key)
}

// byKey parses a key of a symbol server. Its form depends on the kind of file.
func byKey(name, key string) (ident.Module, string) {
	key = strings.ToLower(key)
	lower := strings.ToLower(name)
	code := func(t ident.Type, id, kind string) (ident.Module, string) {
		return ident.Module{Type: t, CodeFile: name, CodeID: ident.ParseCodeID(id)}, kind
	}
	if id, ok := strings.CutPrefix(key, "elf-buildid-sym-"); ok && strings.HasSuffix(lower, ".debug") {
		return code(ident.TypeELF, id, source.ELFDebug)
	}
	if id, ok := strings.CutPrefix(key, "elf-buildid-"); ok {
		return code(ident.TypeELF, id, source.ELFCode)
	}
	if id, ok := strings.CutPrefix(key, "mach-uuid-sym-"); ok && strings.HasSuffix(lower, ".dwarf") {
		return code(ident.TypeMachO, id, source.MachDebug)
	}
	if id, ok := strings.CutPrefix(key, "mach-uuid-"); ok {
		return code(ident.TypeMachO, id, source.MachCode)
	}
	if strings.HasSuffix(lower, ".pdb") {
		id, err := ident.ParseBreakpadID(key)
		if err != nil {
			return ident.Module{}, ""
		}
		return ident.Module{Type: ident.TypePE, DebugFile: name, DebugID: id}, source.PDB
	}
	return code(ident.TypePE, key, source.PE)
}
