package ui

import (
	"crypto/sha256"
	_ "embed" // for the files below
	"encoding/base64"
	"net/http"
)

//go:embed assets/style.css
var style []byte

//go:embed assets/script.js
var script []byte

//go:embed assets/icon.svg
var icon []byte

// An asset is a file that pages use.
type asset struct {
	kind string
	text []byte
	tag  string
}

// assets has the files by their names below /ui/.
var assets = map[string]asset{
	"style.css": newAsset("text/css; charset=utf-8", style),
	"script.js": newAsset("text/javascript; charset=utf-8", script),
	"icon.svg":  newAsset("image/svg+xml", icon),
}

func newAsset(kind string, text []byte) asset {
	sum := sha256.Sum256(text)
	return asset{kind, text, `"` + base64.RawURLEncoding.EncodeToString(sum[:9]) + `"`}
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "no-cache") // a new version has another tag
	h.Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag || r.Header.Get("If-None-Match") == "W/"+a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(a.text) // the client may have left
}
