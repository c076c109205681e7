package trial

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Part is a file of an upload. Its name is that of a symbol server: NAME/ID/FILE.
type Part struct {
	Name    string
	Content []byte
}

// UploadDoor is an interface for uploads.
type UploadDoor struct {
	Name    string
	Project string // that has the files
	// IsForProfilers reports that only programs are uploaded, as symbfiles.
	IsForProfilers bool
	// Send uploads files to s, until ctx ends.
	Send func(ctx context.Context, s *Server, token string, parts []Part) error
}

// UploadDoors returns all interfaces for uploads, for those to a project: where the
// client does not name it, that is the project of its token.
func UploadDoors(project string) []UploadDoor {
	dsyms := "/api/0/projects/acme/" + project + "/files/"
	return []UploadDoor{
		{Name: "Sentry's chunks", Project: project, Send: func(ctx context.Context, s *Server, token string, parts []Part) error {
			return s.sendChunks(Request{Context: ctx, Token: token, Path: dsyms + "difs/assemble/"}, parts)
		}},
		{Name: "Sentry's zip", Project: project, Send: func(ctx context.Context, s *Server, token string, parts []Part) error {
			return s.sendForm(Request{Context: ctx, Token: token, Path: dsyms + "dsyms/"}, "file", parts)
		}},
		{Name: "Tecken", Project: project, Send: func(ctx context.Context, s *Server, token string, parts []Part) error {
			return s.sendForm(Request{Context: ctx, Token: token, Path: "/upload/"}, "symbols.zip", parts)
		}},
		{Name: "Tecken v2", Project: project, Send: sendSession},
		{Name: "Tecken try", Project: project + "-try", Send: func(ctx context.Context, s *Server, token string, parts []Part) error {
			return s.sendForm(Request{Context: ctx, Token: token, Path: "/upload/"}, "symbols.zip", parts, "try", "1")
		}},
		{Name: "symbolon upload", Project: project, Send: func(ctx context.Context, s *Server, token string, parts []Part) error {
			return s.sendFolder(ctx, parts, "upload", "--project", project, "--wait", "-u", s.URL, "-t", token)
		}},
		{Name: "symbolon push", Project: "default", IsForProfilers: true, Send: func(ctx context.Context, s *Server, token string, parts []Part) error {
			return s.sendFolder(ctx, parts, "push", "-u", s.URL, "-t", token)
		}},
	}
}

// client ends requests of uploads to servers that do not respond.
var client = &http.Client{Timeout: serverTimeout}

// Request is a request of a client with a token.
type Request struct {
	Context             context.Context // nil: the request is not canceled
	Token, Method, Path string
	Kind                string // type of the body
	Body                []byte
}

// Do sends a request.
func (s *Server) Do(q Request) (status int, answer string, err error) {
	if q.Context == nil {
		q.Context = context.Background()
	}
	r, err := http.NewRequestWithContext(q.Context, q.Method, s.URL+q.Path, bytes.NewReader(q.Body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", q.Kind)
	if q.Token != "" {
		r.Header.Set("Authorization", "Bearer "+q.Token)
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// post sends a body whose answer has a status, and reads the answer as JSON into value.
func (s *Server) post(q Request, want int, value any) error {
	q.Method = cmp.Or(q.Method, http.MethodPost)
	status, answer, err := s.Do(q)
	if err == nil && status != want {
		err = fmt.Errorf("status %d, want %d: %.500s", status, want, answer)
	}
	if err == nil && value != nil {
		err = json.Unmarshal([]byte(answer), value)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", q.Method, q.Path, err)
	}
	return nil
}

// sendForm sends a zip of files in a field of the body of q; more are names and values of
// other fields.
func (s *Server) sendForm(q Request, field string, parts []Part, more ...string) error {
	var packed, form bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, p := range parts {
		if w, err := z.Create(p.Name); err == nil {
			_, _ = w.Write(p.Content) // a buffer takes everything
		}
	}
	_ = z.Close()
	w := multipart.NewWriter(&form)
	if file, err := w.CreateFormFile(field, "symbols.zip"); err == nil {
		_, _ = packed.WriteTo(file)
	}
	for i := 0; i < len(more); i += 2 {
		_ = w.WriteField(more[i], more[i+1])
	}
	_ = w.Close()
	q.Kind, q.Body = w.FormDataContentType(), form.Bytes()
	return s.post(q, http.StatusCreated, nil)
}

// sendChunks sends each file as one chunk, and has the chunks assembled by ask.
func (s *Server) sendChunks(ask Request, parts []Part) error {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	orders := map[string]any{}
	for _, p := range parts {
		sum := fmt.Sprintf("%x", sha1.Sum(p.Content))
		if file, err := w.CreateFormFile("file", sum); err == nil {
			_, _ = file.Write(p.Content)
		}
		orders[sum] = map[string]any{"name": path.Base(p.Name), "chunks": []string{sum}}
	}
	_ = w.Close()
	chunks := Request{Context: ask.Context, Token: ask.Token, Path: "/api/0/organizations/acme/chunk-upload/", Kind: w.FormDataContentType(), Body: form.Bytes()}
	err := s.post(chunks, http.StatusOK, nil)
	if err != nil {
		return err
	}
	ask.Kind = "application/json"
	if ask.Body, err = json.Marshal(orders); err != nil {
		return err
	}
	for ask.Context.Err() == nil {
		states := map[string]struct{ State string }{}
		// An answer waits for files that are being assembled.
		err := s.post(ask, http.StatusOK, &states)
		left := len(parts)
		for sum, file := range states {
			switch file.State {
			case "ok":
				left--
			case "assembling":
			default:
				return fmt.Errorf("%s: the state is %q", sum, file.State)
			}
		}
		if err != nil || left == 0 {
			return err
		}
	}
	return ask.Context.Err()
}

// sendSession sends files one by one.
func sendSession(ctx context.Context, s *Server, token string, parts []Part) error {
	var files []any
	for _, p := range parts {
		files = append(files, map[string]any{"key": p.Name, "size": len(p.Content), "md5_hash": fmt.Sprintf("%x", md5.Sum(p.Content))})
	}
	body, err := json.Marshal(map[string]any{"files": files})
	if err != nil {
		return err
	}
	var plan struct {
		Files []struct{ Action struct{ URL, Msg string } }
	}
	if err := s.post(Request{Context: ctx, Token: token, Path: "/upload/v2/", Kind: "application/json", Body: body}, http.StatusCreated, &plan); err != nil {
		return err
	}
	for i, p := range parts {
		at, ok := strings.CutPrefix(plan.Files[i].Action.URL, s.URL)
		if !ok {
			return fmt.Errorf("%s: %s", p.Name, plan.Files[i].Action)
		}
		content := p.Content
		if strings.HasSuffix(p.Name, ".sym") {
			content = Gzipped(content)
		}
		if err := s.post(Request{Context: ctx, Method: http.MethodPut, Path: at, Body: content}, http.StatusOK, nil); err != nil {
			return err
		}
	}
	return nil
}

// sendFolder writes files to a folder and runs a command of the binary with it.
func (s *Server) sendFolder(ctx context.Context, parts []Part, args ...string) error {
	dir, err := os.MkdirTemp("", "upload")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, p := range parts {
		file := filepath.Join(dir, filepath.FromSlash(p.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, p.Content, 0o600); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	cmd := s.command(append(args, dir)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })() // it may have ended
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("symbolon %s: %w: %s", args[0], err, &out)
	}
	return nil
}
