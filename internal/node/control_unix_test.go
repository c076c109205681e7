//go:build unix

package node_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"

	"symbolon/internal/node"
)

// The test changes the umask of the process, so it does not run beside others.
func TestTheControlSocketIsNeverOpenToOthers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	data := t.TempDir()
	path := node.ControlSocket(data)
	stop := make(chan struct{})
	open := make(chan os.FileMode, 1)
	go func() {
		defer close(open)
		for {
			if info, err := os.Lstat(path); err == nil && info.Mode().Perm() != 0o600 {
				open <- info.Mode()
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 100 {
		end, err := node.ListenControl(data, (*node.Node)(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		end()
	}
	close(stop)
	if mode, ok := <-open; ok {
		t.Errorf("the socket was %v", mode)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket of a server that has ended is still there: %v", err)
	}
}

// The profiles of the process have memory addresses and, in stacks, values of requests.
func TestProfilesAreOnTheControlSocketOnly(t *testing.T) {
	n, cfg := newNode(t, "")
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := node.ListenControl(cfg.Data, n, front)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", node.ControlSocket(cfg.Data))
	}}}
	defer client.CloseIdleConnections()
	for path, begin := range map[string]string{"profile?seconds=0": "\x1f\x8b", "heap": "\x1f\x8b", "goroutine": "goroutine "} {
		resp, err := client.Get("http://control/debug/pprof/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte(begin)) {
			t.Errorf("%s over the socket: %d, %v, %.20q", path, resp.StatusCode, err, body)
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/"+path, nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s over the port: %d, %.20q", path, w.Code, w.Body)
		}
	}
	if resp, err := client.Get("http://control/debug/pprof/secret"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown profile: %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
}
