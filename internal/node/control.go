package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"symbolon/internal/token"
)

// ListenControl serves n on the control socket of its data directory until stop. n holds
// the lock of the directory, so an existing socket is from a process that ended. front is
// the HTTP front of n.
func ListenControl(data string, n *Node, front http.Handler) (stop func(), err error) {
	path := controlSocket(data)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := listenPrivate(data)
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: controlHandler(n, front)}
	go srv.Serve(l) //nolint:errcheck // ends with Close
	return func() {
		srv.Close()
		l.Close()
		os.Remove(path)
	}, nil
}

// listenPrivate listens on the control socket. A new socket has the mode that the
// umask leaves. So it is created in a folder that other users cannot enter, and
// renamed when its own mode is set.
func listenPrivate(data string) (net.Listener, error) {
	if runtime.GOOS == "windows" { // no modes
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
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then another process may own the name
	if err := errors.Join(os.Chmod(path, 0o600), os.Rename(path, controlSocket(data))); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func controlHandler(n *Node, front http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /explain", answerWith(n.Explain))
	mux.HandleFunc("POST /prefetch", answerWith(n.Prefetch))
	mux.HandleFunc("POST /frames", answerWith(n.Frames))
	mux.HandleFunc("POST /cache", printWith(n.Cache))
	mux.HandleFunc("POST /missing", answerWith(n.Missing))
	mux.HandleFunc("POST /token", printWith(n.Token))
	mux.HandleFunc("POST /project", printWith(n.Project))
	mux.HandleFunc("POST /maintain", printWith(n.Maintain))
	mux.HandleFunc("GET /debug/pprof/{name}", serveProfile)
	mux.HandleFunc(uploadPaths, func(w http.ResponseWriter, r *http.Request) {
		front.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), controlKey{}, true)))
	})
	return mux
}

// uploadPaths are those of uploads in the protocol of Sentry's clients.
const uploadPaths = "/api/0/"

// controlKey marks the context of a request over the control socket.
type controlKey struct{}

// orOperator returns a function that grants everything to the commands of this machine,
// and to other clients as grant does.
func orOperator(grant func(*http.Request) (*token.Grant, error)) func(*http.Request) (*token.Grant, error) {
	return func(r *http.Request) (*token.Grant, error) {
		if r.Context().Value(controlKey{}) == nil {
			return grant(r)
		}
		g := operator()
		g.Name = "command line"
		return g, nil
	}
}

// failedTrailer has the error of a command that wrote text before.
const failedTrailer = "Symbolon-Error"

// printWith serves a command that writes text.
func printWith[Q any](run func(context.Context, Q, io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := &written{ResponseWriter: w}
		err := run(r.Context(), q, out)
		switch {
		case err != nil && out.any:
			w.Header().Set(http.TrailerPrefix+failedTrailer, strings.Join(strings.Fields(err.Error()), " "))
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

// written is a response with a mark that its body was begun.
type written struct {
	http.ResponseWriter
	any bool
}

// Write writes a part of the body.
func (w *written) Write(p []byte) (int, error) {
	w.any = true
	return w.ResponseWriter.Write(p)
}

// Flush sends what was written.
func (w *written) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// answerWith serves a function that returns a value.
func answerWith[Q, T any](call func(context.Context, Q) (T, error)) http.HandlerFunc {
	return printWith(func(ctx context.Context, q Q, w io.Writer) error {
		v, err := call(ctx, q)
		if err == nil {
			_ = json.NewEncoder(w).Encode(v) // the client may be gone
		}
		return err
	})
}
