package profiler

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Viewer serves a profile to the page of the Firefox Profiler, and answers the requests
// of the page, below a secret path that only the page gets. Other paths are 404, and
// pages of other origins can read nothing but these answers.
type Viewer struct {
	file  string
	next  http.Handler
	token string
}

// NewViewer returns a viewer of the profile in a file, which is served unchanged. Next
// answers POST requests.
func NewViewer(file string, next http.Handler) *Viewer {
	secret := make([]byte, 24)
	_, _ = rand.Read(secret) // it never fails
	return &Viewer{file, next, strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret))}
}

// Listen listens on a port of loopback, or on the first free one of the 100 from 3000
// on if the port is zero.
func Listen(port int) (net.Listener, error) {
	if port != 0 {
		return net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	}
	var last error
	for port = 3000; port < 3100; port++ {
		ln, err := Listen(port)
		if err == nil {
			return ln, nil
		}
		last = err
	}
	return nil, fmt.Errorf("none of the ports from 3000 on is free: %w", last)
}

// Address returns the address that opens the profile in the Firefox Profiler at a site,
// with the viewer on a listener.
func (v *Viewer) Address(site string, ln net.Listener) string {
	base := "http://" + ln.Addr().String() + "/" + v.token
	return Address(site, base+"/profile.json", base)
}

// Address returns the address that opens a profile in the Firefox Profiler at a site. The
// page asks a server for names.
func Address(site, profile, server string) string {
	return strings.TrimRight(site, "/") + "/from-url/" + url.QueryEscape(profile) + "/?symbolServer=" + url.QueryEscape(server)
}

// Serve serves requests until ctx ends. It closes the listener.
func (v *Viewer) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(ln); ctx.Err() == nil {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (v *Viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/"+v.token+"/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	switch {
	case r.Method == http.MethodOptions:
		if r.Header.Get("Access-Control-Request-Method") == "" {
			h.Set("Allow", "POST, GET, OPTIONS")
		} else {
			h.Set("Access-Control-Allow-Methods", "POST, GET, OPTIONS")
			h.Set("Access-Control-Max-Age", "86400")
			if headers := r.Header.Values("Access-Control-Request-Headers"); len(headers) > 0 {
				h.Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
			}
		}
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPost:
		http.StripPrefix("/"+v.token, v.next).ServeHTTP(w, r)
	case path == "profile.json" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		v.serveProfile(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serveProfile sends the file.
func (v *Viewer) serveProfile(w http.ResponseWriter, r *http.Request) {
	f, err := os.Open(v.file)
	if err != nil {
		http.Error(w, "the profile cannot be read any more", http.StatusNotFound)
		return
	}
	defer f.Close()
	ServeProfile(w, r, f)
}

// ServeProfile sends a profile. A browser decodes one with gzip.
func ServeProfile(w http.ResponseWriter, r *http.Request, profile io.ReadSeeker) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=UTF-8")
	magic := make([]byte, 2)
	if _, _ = io.ReadFull(profile, magic); string(magic) == "\x1f\x8b" {
		h.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, profile)
}

// Browse opens an address in the browser of the user, if there is one.
func Browse(address string) {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	c := exec.Command(command[0], append(command[1:], address)...)
	if c.Start() == nil {
		go func() { _ = c.Wait() }() // the user has the address if it fails
	}
}
