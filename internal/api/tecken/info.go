package tecken

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// never is the expiry of tokens that do not expire.
var never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// authInfo answers with the rights of a token.
func (d *Door) authInfo(w http.ResponseWriter, r *http.Request) error {
	c, err := d.uploader(r)
	if err != nil {
		return err
	}
	all, err := d.Tokens.All(r.Context())
	if err != nil {
		return err
	}
	expires := never
	if i := slices.IndexFunc(all, func(t token.Token) bool { return t.ID == c.ID }); i >= 0 && !all[i].Expires.IsZero() {
		expires = all[i].Expires
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{
		"email": receive.Uploader(c.Grant), "user_id": 0, "try_symbols": c.isTry, "token_expires_at": expires.Unix(),
		"upload_api_version": 1, // the one of most clients
	})
	return nil
}

// symInfo answers with the identifiers of a module, by its debug id or code id.
func (d *Door) symInfo(w http.ResponseWriter, r *http.Request) error {
	g, err := d.grant(r)
	if err != nil {
		return err
	}
	all, err := d.Store.Projects(r.Context())
	if err != nil {
		return err
	}
	name, text := r.PathValue("file"), r.PathValue("id")
	questions := []ident.Module{{CodeFile: name, CodeID: ident.ParseCodeID(text)}}
	if id, err := ident.ParseBreakpadID(strings.ToUpper(text)); err == nil && !id.IsZero() {
		questions = append([]ident.Module{{DebugFile: name, DebugID: id}}, questions...)
	}
	projects := WithTry(g, all)
	for _, m := range questions {
		found, err := d.Store.Find(r.Context(), projects, store.Question{Module: m})
		if err != nil {
			return err
		}
		for i := range found {
			if info := infoOf(&found[i], name); info != nil {
				info["url"] = d.BaseURL(r) + info["url"]
				api.WriteJSON(w, http.StatusOK, info)
				return nil
			}
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = fmt.Fprint(w, "Code file / id Not Found") // the client may have left
	return nil
}

// infoOf returns the identifiers of a file, with the path of its symbols as url; nil if
// it has no debug id.
func infoOf(f *store.Found, name string) map[string]string {
	if f.Object < 0 {
		return nil
	}
	o := &f.Record.Objects[f.Object]
	m := o.Module.Derive()
	if m.DebugID.IsZero() {
		return nil
	}
	debugFile := ident.FileName(m.DebugFile)
	if debugFile == "" {
		debugFile = name
	}
	path := "/" + url.PathEscape(debugFile) + "/" + m.DebugID.Breakpad() + "/" + url.PathEscape(ident.SymName(debugFile))
	if strings.HasSuffix(f.Project, trySuffix) {
		path = "/try" + path
	}
	return map[string]string{
		"debug_id": m.DebugID.Breakpad(), "debug_filename": debugFile, "code_file": ident.FileName(m.CodeFile),
		"code_id": strings.ToUpper(m.CodeID.String()), "generator": "", "url": path,
	}
}

const maxDays = 30

// missingSymbols answers with the missing modules of the projects that the client may
// read, as CSV, the most requested ones first.
func (d *Door) missingSymbols(w http.ResponseWriter, r *http.Request) error {
	g, err := d.grant(r)
	if err != nil {
		return err
	}
	if !g.May(token.Read, "") {
		return errNoToken
	}
	days := 1
	if text := r.URL.Query().Get("days"); text != "" {
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > maxDays {
			return api.Invalid("invalid days %.20q: must be 1 to %d", text, maxDays)
		}
	}
	now := d.Now().UTC()
	rows, err := d.Missing(r.Context(), now.AddDate(0, 0, -days))
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *missing.Row) bool { return !g.May(token.Read, project(row)) })
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="missing-symbols-`+now.Format(time.DateOnly)+`.csv"`)
	if r.URL.Query().Get("columns") == "all" {
		return missing.WriteCSV(w, rows)
	}
	out := csv.NewWriter(w)
	_ = out.Write([]string{"debug_file", "debug_id", "code_file", "code_id"}) // the client may have left
	seen := map[[4]string]bool{}
	for _, row := range rows {
		fields := [4]string{row.DebugFile, row.DebugID, row.CodeFile, row.CodeID}
		if !seen[fields] {
			_ = out.Write(missing.Cells(row.DebugFile, row.DebugID, row.CodeFile, row.CodeID))
		}
		seen[fields] = true
	}
	out.Flush()
	return nil
}

// project returns the project of a row.
func project(row *missing.Row) string {
	if row.Project == "" {
		return ident.DefaultProject
	}
	return row.Project
}
