//go:build linux

package mozilla

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// startOrigin starts the symbol source as a process of its own, which ends
// with ours.
func (b *bench) startOrigin() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(b.ctx, self, "mozilla", "origin", b.opt.symbols, b.tmp)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends when this is closed
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

// serveOrigin serves the .sym files of a folder: below plain/ as they are,
// below gzip/ what lies in the folder gzip of the second one, sent encoded. Any
// other id of a file's last 28 digits gives that file with this id, so there
// are as many large files as are asked for.
func serveOrigin(args []string) error {
	symbols, tmp := args[0], args[1]
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plain/{file}/{id}/{name}", func(w http.ResponseWriter, r *http.Request) {
		sendPlain(w, filepath.Join(symbols, r.PathValue("file")), r.PathValue("id"), r.PathValue("name"))
	})
	mux.HandleFunc("GET /gzip/{file}/{id}/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		send(w, filepath.Join(tmp, "gzip", r.PathValue("name")), nil)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with who started us
		os.Exit(0)
	}()
	return http.Serve(l, mux)
}

func sendPlain(w http.ResponseWriter, dir, id, name string) {
	path := filepath.Join(dir, id, name)
	if _, err := os.Stat(path); err == nil || len(id) < 28 {
		send(w, path, nil)
		return
	}
	alike, err := filepath.Glob(filepath.Join(dir, "?????"+id[5:], name))
	if err != nil || len(alike) == 0 {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	was := filepath.Base(filepath.Dir(alike[0]))
	send(w, alike[0], func(head string) string { return strings.Replace(head, was, id, 1) })
}

// send sends a file, its first line changed if asked for to one of the same
// length.
func send(w http.ResponseWriter, path string, change func(string) string) {
	f, err := os.Open(path)
	if err != nil {
		w.Header().Del("Content-Encoding")
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", fmt.Sprint(st.Size()))
	if change != nil {
		head, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
		if err != nil {
			return
		}
		_, _ = io.WriteString(w, change(head)) // who asked may leave
		_, _ = f.Seek(int64(len(head)), io.SeekStart)
	}
	_, _ = io.Copy(w, f)
}

// alias is the id of a file of its own with the content of m.
func (m *module) alias(n int) string { return fmt.Sprintf("%05X", n) + m.id[5:] }

// compress makes the gzip file of m that the symbol source serves, once.
func (b *bench) compress(m *module) (string, error) {
	path := filepath.Join(b.tmp, "gzip", filepath.Base(m.path))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	in, err := os.Open(m.path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	z := gzip.NewWriter(out)
	if _, err := io.Copy(z, reader{b.ctx, in}); err != nil {
		return "", err
	}
	return path, z.Close()
}

// reader reads until the context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
