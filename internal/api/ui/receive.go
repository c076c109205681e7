package ui

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

const (
	maxField   = 8 << 10 // bytes of a field that is not a file
	maxResults = 500     // files of an upload that are listed
)

// A resultData is the data of the answer to an upload.
type resultData struct {
	Upload   string       `json:"upload,omitempty"` // id; empty: no file was accepted
	Project  string       `json:"project"`
	Accepted int          `json:"accepted"`
	Refused  int          `json:"refused"`
	Files    []fileResult `json:"files"` // the first ones
	back     string       // page of the module for which it was sent
}

// A fileResult is the outcome for a file.
type fileResult struct {
	Name    string       `json:"name"`
	Objects []objectData `json:"objects,omitempty"`
	Refused string       `json:"refused,omitempty"` // why
}

// An intake receives the files of a form. Its methods for files are safe for concurrent use.
type intake struct {
	door   *Door
	visit  *visit
	labels string
	draft  *store.Draft // nil: no file yet

	mu   sync.Mutex
	data resultData
}

// upload stores the files of a form as one upload.
func (d *Door) upload(v *visit, p *progress) (outcome, error) {
	t := &intake{door: d, visit: v, data: resultData{Files: []fileResult{}, back: localPath(v.URL.Query().Get("back"))}}
	v.Body = &watched{ReadCloser: v.Body, total: v.ContentLength, progress: p}
	err := eachPart(v, t.part)
	if t.draft != nil {
		defer t.draft.Close()
	}
	if err != nil {
		return outcome{}, err
	}
	switch {
	case t.draft == nil:
		return outcome{}, api.Invalid("the form has no file")
	case t.data.Accepted > 0:
		u, err := receive.Commit(v.Context(), t.draft)
		if err != nil {
			return outcome{}, err
		}
		t.data.Upload = u.ID
	}
	if t.data.back != "" && t.data.Refused == 0 && !v.wantsJSON() {
		return outcome{to: t.data.back, note: "uploaded"}, nil
	}
	slices.SortStableFunc(t.data.Files, func(a, b fileResult) int { return strings.Compare(a.Name, b.Name) })
	return outcome{view: &view{title: "Uploaded files", data: t.data, body: resultView(v, &t.data)}}, nil
}

// watched reports how much of a body was read.
type watched struct {
	io.ReadCloser
	n, total int64
	progress *progress
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.n += int64(n)
	w.progress.show("bytes received", w.n, max(w.total, 0))
	return n, err
}

// part receives a part of a form. Fields come before files.
func (t *intake) part(part *multipart.Part) (err error) {
	switch {
	case part.FileName() != "":
		err = t.file(part)
	case part.FormName() == "project":
		t.data.Project, err = field(part)
	case part.FormName() == "labels":
		t.labels, err = field(part)
	}
	return err
}

// field reads a field that is not a file, up to its limit.
func field(part io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(part, maxField))
	if err != nil {
		return "", receive.FormError(err)
	}
	return strings.TrimSpace(string(text)), nil
}

// begin begins the upload.
func (t *intake) begin() error {
	v, project := t.visit, t.data.Project
	if err := ident.CheckProject(project); err != nil {
		return api.Invalid("%v; its field must come before the files", err)
	}
	if !v.grant.May(token.Upload, project) {
		return api.Refuse(http.StatusForbidden, "this needs a token with the right upload in the project %s", project)
	}
	labels, err := receive.ParseLabels(list(t.labels), v.grant)
	if err == nil {
		t.draft = t.door.deps.Store.Begin(project, labels, receive.Uploader(v.grant))
	}
	return err
}

// list returns the parts of a field that are separated by commas.
func list(text string) (parts []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// file receives a file, or the files of an archive.
func (t *intake) file(part *multipart.Part) error {
	if t.draft == nil {
		if err := t.begin(); err != nil {
			return err
		}
	}
	name := part.FileName()
	if _, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition")); err == nil {
		name = params["filename"] // of a file in a folder with its path
	}
	spool, err := receive.Spool(t.door.deps.Spool, part)
	if err != nil {
		return err
	}
	defer func() { _ = spool.Close() }() // it is removed
	space := t.door.deps.Space(t.visit.Context())
	defer func() { _ = space.Close() }() // it is removed
	err = receive.EachFile(spool, space, func(_ int, member string, r io.Reader) error {
		if member != "" {
			member = "/" + member
		}
		return t.add(name+member, r)
	})
	if refused, ok := errors.AsType[*api.Refusal](err); ok { // an archive that cannot be unpacked
		t.note(fileResult{Name: name, Refused: refused.Text})
		return nil
	}
	return err
}

// add adds a file to the upload, or notes why it is refused.
func (t *intake) add(name string, r io.Reader) error {
	record, err := t.draft.Add(t.visit.Context(), name, r)
	var refused *store.Refusal
	switch {
	case errors.As(err, &refused):
		t.note(fileResult{Name: name, Refused: refused.Fault.Detail})
	case err != nil:
		return fmt.Errorf("store %.200q: %w", name, err)
	default:
		t.note(fileResult{Name: name, Objects: objectsOf(record)})
	}
	return nil
}

func (t *intake) note(one fileResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.Refused == "" {
		t.data.Accepted++
	} else {
		t.data.Refused++
	}
	if len(t.data.Files) < maxResults {
		t.data.Files = append(t.data.Files, one)
	}
}
