package mozilla

import (
	"net/http"
	"net/url"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

const symbolNotFound = "Symbol Not Found"

// read returns the handler that serves .sym files. If the two names in the path do not
// belong together, the answer is 404.
func (d *Door) read(open Open) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { d.serve(w, r, open) }
}

func (d *Door) serve(w http.ResponseWriter, r *http.Request, open Open) {
	file, sym := r.PathValue("file"), r.PathValue("sym")
	text := strings.ToUpper(r.PathValue("id"))
	if len(text) < minID {
		d.redirect(w, r, file, ident.ParseCodeID(text))
		return
	}
	id, err := ident.ParseDebugID(text)
	if err != nil || id.IsZero() || !d.isReadable(file) || !belongs(sym, file) {
		api.FailError(w, r, http.StatusNotFound, symbolNotFound)
		return
	}
	query := r.URL.Query()
	m := ident.Module{
		DebugFile: file, DebugID: id, DebugIDText: text,
		CodeFile: query.Get("code_file"), CodeID: ident.ParseCodeID(query.Get("code_id")),
	}
	var f api.File
	g, err := d.grant(r)
	if err == nil {
		f, err = open(r.Context(), g, []source.FileRequest{{Module: m, Kinds: []string{source.Breakpad}}})
	}
	if err != nil && len(text) == buildIDDigits && fault.KindOf(err) == fault.NotFound {
		d.redirect(w, r, file, ident.ParseCodeID(text))
		return
	}
	if err != nil {
		d.refuseRead(w, r, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	api.SendFile(w, r, f, d.log)
}

// redirect answers a request with the code id of a binary by the path of its .sym file,
// if a file has its debug id.
func (d *Door) redirect(w http.ResponseWriter, r *http.Request, file string, code ident.CodeID) {
	if !d.isReadable(file) || code.IsZero() {
		api.FailError(w, r, http.StatusNotFound, symbolNotFound)
		return
	}
	asked := source.FileRequest{
		Module: ident.Module{CodeFile: file, DebugFile: file, CodeID: code},
		Kinds:  []string{source.PE, source.Breakpad},
	}
	var m ident.Module
	g, err := d.grant(r)
	if err == nil {
		m, err = d.deps.Identify(r.Context(), g, asked)
	}
	name := ident.FileName(m.DebugFile)
	if err == nil && (m.DebugID.IsZero() || name == "") {
		err = fault.New(fault.NotFound, "", "the file has no debug id")
	}
	if err != nil {
		d.refuseRead(w, r, err)
		return
	}
	// The path is relative, since a prefix may have a token.
	to := "../../" + url.PathEscape(name) + "/" + m.DebugID.Breakpad() + "/" + url.PathEscape(ident.SymName(name))
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

func (d *Door) refuseRead(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := api.Status(err)
	switch status {
	case http.StatusNotFound:
		api.FailError(w, r, status, symbolNotFound)
	case http.StatusInternalServerError, http.StatusInsufficientStorage:
		d.log.Error("cannot open a symbol file", "request_id", api.RequestID(r.Context()), "error", err)
		fallthrough
	default:
		api.FailError(w, r, status, "")
	}
}

// belongs reports whether sym is the name of the symbols of file: .sym follows
// the name, or replaces .pdb in upper or lower case.
func belongs(sym, file string) bool {
	stem := strings.TrimSuffix(sym, ".sym")
	if stem == file {
		return true
	}
	cut := len(file) - len(".pdb")
	return cut >= 0 && stem == file[:cut] && strings.EqualFold(file[cut:], ".pdb")
}

// isReadable reports whether files of this name are searched.
func (d *Door) isReadable(file string) bool {
	if d.cfg.Strict {
		return isStorable(file)
	}
	return ident.CheckFileName(file) == nil
}

// isStorable reports whether Mozilla's symbol store accepts a file of this name:
// it must not have control characters, characters of the upper half of Latin-1, or
// those with a meaning in paths and URLs.
func isStorable(file string) bool {
	if file == "." || file == ".." {
		return false
	}
	for _, c := range file {
		if c < 0x20 || 0x80 <= c && c <= 0xff || strings.ContainsRune("\\^`><{}[]#%\"'|/\uFFFD", c) {
			return false
		}
	}
	return true
}
