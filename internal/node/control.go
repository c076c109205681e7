package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"symbolon/internal/answer"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
)

// controlSocket is where a server listens for the commands of operators. Only
// the user who runs the server may open it.
func controlSocket(data string) string { return filepath.Join(data, "control.sock") }

// ListenControl serves op on the control socket of a data directory whose lock
// is held, so a socket that is there was left by a server that is gone.
func ListenControl(data string, n *Node) (func(), error) {
	path := controlSocket(data)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := listenPrivate(data)
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: controlHandler(n)}
	go srv.Serve(l) //nolint:errcheck // it ends by Close
	return func() {
		srv.Close()
		l.Close()
		os.Remove(path)
	}, nil
}

// listenPrivate listens on the control socket. It makes the socket in a folder
// that is closed to others, and moves it to its place when its own mode is set:
// a new socket has the mode that the umask leaves.
func listenPrivate(data string) (net.Listener, error) {
	if runtime.GOOS == "windows" { // modes mean nothing there
		return net.Listen("unix", controlSocket(data))
	}
	dir := filepath.Join(data, ".new")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // the name may be of the next one by then
	if err := errors.Join(os.Chmod(path, 0o600), os.Rename(path, controlSocket(data))); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func controlHandler(n *Node) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /explain", answerWith(n.Explain))
	mux.HandleFunc("POST /prefetch", answerWith(n.Prefetch))
	mux.HandleFunc("POST /frames", answerWith(n.Frames))
	mux.HandleFunc("POST /cache", printWith(n.Cache))
	mux.HandleFunc("POST /key", printWith(n.Key))
	return mux
}

// printWith serves a command that prints.
func printWith[Q any](do func(context.Context, Q, io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := do(r.Context(), q, w); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

// answerWith serves a question about one module.
func answerWith[Q, T any](ask func(context.Context, Q) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		v, err := ask(r.Context(), q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(v) // a client that is gone wants no error
	}
}

// remote asks the server that runs on a data directory.
type Remote struct{ client *http.Client }

// Dial returns nil when no server runs on the directory.
func Dial(ctx context.Context, data string) *Remote {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", controlSocket(data))
	}
	c, err := dial(ctx, "", "")
	if err != nil {
		return nil
	}
	c.Close()
	return &Remote{&http.Client{Transport: &http.Transport{DialContext: dial}}}
}

func (r *Remote) Close() { r.client.CloseIdleConnections() }

func (r *Remote) Explain(ctx context.Context, q explain.Question) (*explain.Trail, error) {
	x := &explain.Trail{}
	return x, r.ask(ctx, "explain", q, func(body io.Reader) error { return json.NewDecoder(body).Decode(x) })
}

func (r *Remote) Prefetch(ctx context.Context, m ident.Module) (p Prefetched, err error) {
	return p, r.ask(ctx, "prefetch", m, func(body io.Reader) error { return json.NewDecoder(body).Decode(&p) })
}

func (r *Remote) Frames(ctx context.Context, q FileQuery) (a []answer.Answer, err error) {
	return a, r.ask(ctx, "frames", q, func(body io.Reader) error { return json.NewDecoder(body).Decode(&a) })
}

func (r *Remote) Cache(ctx context.Context, q CacheQuery, w io.Writer) error {
	return r.ask(ctx, "cache", q, copyTo(w))
}

func (r *Remote) Key(ctx context.Context, q KeyQuery, w io.Writer) error {
	return r.ask(ctx, "key", q, copyTo(w))
}

func copyTo(w io.Writer) func(io.Reader) error {
	return func(body io.Reader) error {
		_, err := io.Copy(w, body)
		return err
	}
}

func (r *Remote) ask(ctx context.Context, what string, question any, use func(io.Reader) error) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/"+what, strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return errors.New("the running server went away")
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("the running server says: %s", strings.TrimSpace(string(reason)))
	}
	return use(resp.Body)
}
