package mozilla

import (
	"io"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/ident"
)

const symbolNotFound = "Symbol Not Found"

// read serves a .sym file. If the two names in the path do not belong together,
// the answer is 404.
func (d *Door) read(w http.ResponseWriter, r *http.Request) {
	file, sym := r.PathValue("file"), r.PathValue("sym")
	text := strings.ToUpper(r.PathValue("id"))
	id, err := ident.ParseDebugID(text)
	if err != nil || id.IsZero() || len(text) < minID || !d.isReadable(file) || !belongs(sym, file) {
		api.FailError(w, r, http.StatusNotFound, symbolNotFound)
		return
	}
	f, err := d.symbols(r.Context(), ident.Module{DebugFile: file, DebugID: id, DebugIDText: text})
	if err != nil {
		d.refuseRead(w, r, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, 0, f.Size()))
}

func (d *Door) refuseRead(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := api.Status(err)
	switch status {
	case http.StatusNotFound:
		api.FailError(w, r, status, symbolNotFound)
	case http.StatusInternalServerError:
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
