//go:build unix

package node_test

import (
	"errors"
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
