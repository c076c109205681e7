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

// read serves a .sym file. The two names of the path have to belong together:
// a client that asks for something else is told that it is not there.
func (d *Door) read(w http.ResponseWriter, r *http.Request) {
	file, sym := r.PathValue("file"), r.PathValue("sym")
	text := strings.ToUpper(r.PathValue("id"))
	id, err := ident.ParseDebugID(text)
	if err != nil || id.IsZero() || len(text) < shortestID || !d.readable(file) || !names(sym, file) {
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
		d.log.Error("a symbol file could not be opened", "request_id", api.RequestID(r.Context()), "error", err)
		fallthrough
	default:
		api.FailError(w, r, status, "")
	}
}

// names says whether sym is a name for the symbols of file: with .sym behind
// it, or in the place of .pdb in any case of letters.
func names(sym, file string) bool {
	stem := strings.TrimSuffix(sym, ".sym")
	if stem == file {
		return true
	}
	cut := len(file) - len(".pdb")
	return cut >= 0 && stem == file[:cut] && strings.EqualFold(file[cut:], ".pdb")
}

// readable says whether a source is asked for files of this name.
func (d *Door) readable(file string) bool {
	if d.cfg.Strict {
		return storable(file)
	}
	return ident.CheckFileName(file) == nil
}

// storable says whether Mozilla's symbol store takes a file of this name: no
// control characters, none of Latin-1's upper half, nothing that paths and
// URLs use for themselves.
func storable(file string) bool {
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
