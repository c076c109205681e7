package tecken

import (
	"bytes"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/ident"
)

const (
	maxPlanned = 1024     // files of a session
	maxPlan    = 1 << 20  // bytes of its request
	planHolder = "tecken" // of the pieces of the store that are sessions
	md5Digits  = 32
)

// A plan is a session of uploads. It is a piece of the store, under a sum that cannot be
// guessed, so any node can receive its files.
type plan struct {
	Secret   string            `json:"secret"`
	Project  string            `json:"project"`
	Labels   map[string]string `json:"labels"`
	Uploader string            `json:"uploader"`
	Token    string            `json:"token"` // id of the token; empty: the client had none
	Files    []planned         `json:"files"`
}

// planned is a file of a session.
type planned struct {
	Key  string `json:"key"`
	Size *int64 `json:"size"`
	MD5  string `json:"md5_hash"` // of the file before its compression for the way
}

// isCompressed reports whether the client must compress a file.
func (f *planned) isCompressed() bool { return strings.HasSuffix(f.Key, ".sym") }

// check returns why a file of a session is refused, or "".
func (f *planned) check(limit int64) string {
	if *f.Size < 0 || *f.Size > limit {
		return "invalid size"
	}
	if _, ok := claimedID(f.Key); !ok || !isPath(f.Key) || strings.Count(f.Key, "/") != 2 {
		return "invalid key"
	}
	if len(f.MD5) != md5Digits || strings.Trim(f.MD5, "0123456789abcdef") != "" {
		return "invalid MD5 hex digest"
	}
	return ""
}

// plan answers with the addresses to which the files of a session are sent.
func (d *Door) plan(w http.ResponseWriter, r *http.Request) error {
	c, err := d.uploader(r)
	if err != nil {
		return err
	}
	var asked struct {
		Files []planned `json:"files"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Files == nil {
		if body, ok := errors.AsType[*api.Refusal](err); ok {
			return body
		}
		return api.Invalid("malformed JSON request body")
	}
	if len(asked.Files) > maxPlanned {
		return api.Invalid("too many files")
	}
	p := plan{Secret: rand.Text(), Files: asked.Files, Uploader: receive.Uploader(c.Grant), Token: c.ID}
	if p.Project, p.Labels, err = c.target(r, c.isTry); err == nil && c.isTry {
		err = d.createTry(r.Context(), c.project)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	sum := ident.SHA1(sha1.Sum(text))
	if err := d.Store.PutChunk(r.Context(), planHolder, sum, bytes.NewReader(text)); err != nil {
		return err
	}
	files := make([]any, len(p.Files))
	for i := range p.Files {
		f := &p.Files[i]
		if f.Key == "" || f.Size == nil || f.MD5 == "" {
			return api.Invalid("malformed JSON request body")
		}
		action := map[string]any{"type": "upload", "url": fmt.Sprintf("%s/upload/v2/%s/%d", d.BaseURL(r), hex.EncodeToString(sum[:]), i), "content_encoding": nil}
		if why := f.check(int64(d.limits.MaxFile)); why != "" {
			action = map[string]any{"type": "error", "msg": why}
		} else if f.isCompressed() {
			action["content_encoding"] = "gzip"
		}
		files[i] = map[string]any{"key": f.Key, "action": action}
	}
	now := d.Now()
	api.WriteJSON(w, http.StatusCreated, map[string]any{
		"id": now.UnixMilli(), "created_at": now.Unix(), "user": p.Uploader, "try_symbols": c.isTry, "upload_protocol": "gcs-resumable", "files": files,
	})
	return nil
}
