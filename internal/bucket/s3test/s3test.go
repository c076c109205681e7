// Package s3test runs a real object store for tests: versitygw over a folder of
// the test. It uses the installed program, or builds it once, which needs the
// network, and keeps it in the user's cache.
package s3test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"symbolon/internal/waittest"
)

// gateway is the version of the object store that the tests run.
const gateway = "v1.8.0"

// The bucket of a Server, and its credentials.
const (
	Bucket    = "symbols"
	AccessKey = "a-test-key"
	SecretKey = "a-test-secret"
)

// program returns the path of versitygw.
func program(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "symbolon-test")
	path := filepath.Join(folder, "versitygw-"+gateway)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	// Built aside and renamed: tests of other packages may need it meanwhile.
	aside, err := os.MkdirTemp(folder, "build-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(aside)
	build := exec.Command("go", "install", "github.com/versity/versitygw/cmd/versitygw@"+gateway)
	build.Dir = t.TempDir() // outside a module
	build.Env = append(os.Environ(), "GOBIN="+aside, "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		out = bytes.TrimSpace(out)
		if os.Getenv("CI") == "true" {
			t.Fatalf("versitygw is not installed and cannot be built: %v\n%.2000s", err, out)
		}
		t.Skipf("versitygw is not installed and cannot be built: %v %.200q", err, out)
	}
	if err := os.Rename(filepath.Join(aside, "versitygw"), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Server is a running object store.
type Server struct {
	Folder string // the blobs of Bucket, by their keys

	t    testing.TB
	port int
	cmd  *exec.Cmd
}

// Run starts a store. It ends with the test. Without the program the test is
// skipped, and fails in CI.
func Run(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, Folder: filepath.Join(t.TempDir(), Bucket), port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	if err := os.Mkdir(s.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// Start starts the store again after a Kill, at the same address.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(program(s.t), "--port", s.addr(), "--access", AccessKey, "--secret", SecretKey, "--quiet",
		"posix", filepath.Dir(s.Folder))
	s.cmd.Dir = filepath.Dir(s.Folder)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	waittest.Until(s.t, "the object store listens", func() bool {
		c, err := net.Dial("tcp", s.addr())
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// Kill kills the store. Its blobs remain.
func (s *Server) Kill() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	}
}

func (s *Server) addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Endpoint returns the address of the store.
func (s *Server) Endpoint() string { return "http://" + s.addr() }
