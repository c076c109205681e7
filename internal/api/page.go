package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for index.html
	"encoding/base64"
	"net/http"
)

//go:embed index.html
var index []byte

// page is the HTML page. Its policy allows only its own style.
type page struct{ policy string }

func newPage() page {
	_, style, _ := bytes.Cut(index, []byte("<style>"))
	style, _, _ = bytes.Cut(style, []byte("</style>"))
	sum := sha256.Sum256(style)
	return page{"default-src 'none'; frame-ancestors 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}
}

func (p page) serve(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(index) // the client may have left
}
