// Package s3test runs a real object store for tests: versitygw over a folder of
// the test. It uses the installed program, or builds it once, which needs the
// network, and keeps it in the user's cache.
package s3test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/proctest"
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

// Place is an object store that runs.
type Place struct{ Endpoint, Bucket, AccessKey, SecretKey string }

// Named returns the object stores that the variable SYMBOLON_TEST_S3 names, separated by
// spaces: http://ACCESS_KEY:SECRET_KEY@HOST:PORT/BUCKET. Tests leave blobs there.
func Named(t testing.TB) (list []Place) {
	t.Helper()
	for text := range strings.FieldsSeq(os.Getenv("SYMBOLON_TEST_S3")) {
		u, err := url.Parse(text)
		if err != nil || u.User == nil {
			t.Fatalf("invalid SYMBOLON_TEST_S3: must be http://ACCESS_KEY:SECRET_KEY@HOST:PORT/BUCKET, %v", err)
		}
		secret, _ := u.User.Password()
		list = append(list, Place{u.Scheme + "://" + u.Host, strings.Trim(u.Path, "/"), u.User.Username(), secret})
	}
	return list
}

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

	t     testing.TB
	port  int
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// maxTries is how many ports Run tries.
const maxTries = 10

// Run starts a store. It ends with the test. Without the program the test is
// skipped, and fails in CI.
func Run(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, Folder: filepath.Join(t.TempDir(), Bucket)}
	if err := os.Mkdir(s.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	for range maxTries {
		s.port = proctest.FreePort(t)
		if s.start() {
			return s
		}
	}
	t.Fatalf("versitygw does not start: %v", s.cmd.ProcessState)
	return nil
}

// Start starts the store again after a Kill, at the same address.
func (s *Server) Start() {
	s.t.Helper()
	if !s.start() {
		s.t.Fatalf("versitygw does not start again: %v", s.cmd.ProcessState)
	}
}

// start starts the store and reports whether it accepts connections. One whose port is
// taken exits before.
func (s *Server) start() (listens bool) {
	s.t.Helper()
	s.cmd = exec.Command(program(s.t), "--port", s.addr(), "--access", AccessKey, "--secret", SecretKey, "--quiet",
		"posix", filepath.Dir(s.Folder))
	s.cmd.Dir = filepath.Dir(s.Folder)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, ended := s.cmd, make(chan struct{})
	s.ended = ended
	go func() {
		_ = cmd.Wait() // ProcessState has its error
		close(ended)
	}()
	waittest.Until(s.t, "the object store listens", func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		c, err := net.Dial("tcp", s.addr())
		if listens = err == nil; listens {
			c.Close()
		}
		return listens
	})
	return listens
}

// Kill kills the store. Its blobs remain.
func (s *Server) Kill() {
	if s.ended != nil {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.ended
	}
}

func (s *Server) addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Place returns the store as tests name others.
func (s *Server) Place() Place { return Place{s.Endpoint(), Bucket, AccessKey, SecretKey} }

// Endpoint returns the address of the store.
func (s *Server) Endpoint() string { return "http://" + s.addr() }

// Open returns the bucket of the store with the keys below a prefix.
func (s *Server) Open(t testing.TB, prefix string) bucket.Bucket {
	t.Helper()
	return s.Place().Open(t, prefix)
}

// State returns the configuration of a node with its state below a prefix, reached at an
// address.
func (p Place) State(endpoint, prefix string) string {
	return fmt.Sprintf("sources: [{id: store, type: s3, bucket: %s, prefix: %q, region: [us-east-1, %q], access_key: %q, secret_key: %q, layout: {type: elastic}}]\n"+
		"state: store\n", p.Bucket, prefix, endpoint, p.AccessKey, p.SecretKey)
}

// Open returns the bucket of the store with the keys below a prefix.
func (p Place) Open(t testing.TB, prefix string) bucket.Bucket {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	b, err := s3.New(s3.Config{
		Bucket: p.Bucket, Prefix: prefix, Endpoint: p.Endpoint, AccessKey: bin.NewSecret(p.AccessKey), SecretKey: bin.NewSecret(p.SecretKey),
	}, s3.Deps{Transport: transport, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
