package node_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bucket/s3test"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// jsonOf is a module of trial.Sym as the protocol names it.
func jsonOf(sym trial.Sym) string {
	return fmt.Sprintf(`"type":"elf","debug_id":%q,"debug_file":%q`, sym.ID, sym.File)
}

// TestADeadSourceDelaysNobodyElse has a source among five that takes connections
// and never says anything. It is asked for what has "slow" in its name.
func TestADeadSourceDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	dead := trial.NewListener(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	ups := []*trial.Upstream{trial.NewUpstream(t), trial.NewUpstream(t), trial.NewUpstream(t), trial.NewUpstream(t)}
	ups[2].Do("", trial.File([]byte(trial.KettleSym)))
	breakpad := ", filters: {filetypes: [breakpad]}"
	config := strings.Replace(sourcesOf(breakpad, ups...), "sources:\n",
		"sources:\n- {id: dead, type: http, url: 'http://"+dead+"', filters: {filetypes: [breakpad], path_patterns: ['*slow*']}}\n", 1)
	s := open(t, t.TempDir(), config+"network: {head_timeout: 8s, max_tries: 1}\n")
	slow := strings.ReplaceAll(trial.Kettle, "kettle", "slow")
	start := time.Now()
	pending := s.symbolicate(t, "?timeout=1", slow, "")
	if pending.Status != "pending" || pending.ID == "" || time.Since(start) > 6*time.Second {
		t.Fatalf("after %v: %s", time.Since(start), pending.Text)
	}
	var wg sync.WaitGroup
	for i := range 80 { // more than there are downloads for all sources
		wg.Go(func() {
			r := s.symbolicate(t, "?timeout=0", strings.ReplaceAll(trial.Kettle, "kettle", fmt.Sprint("slow", i)), "")
			if r.Status != "pending" {
				t.Errorf("another module of the dead source: %s", r.Text)
			}
		})
	}
	wg.Wait()
	for i := range 40 {
		start := time.Now()
		r := s.symbolicate(t, "", strings.ReplaceAll(trial.Kettle, "kettle", fmt.Sprint("quick", i)), "")
		if took := time.Since(start); r.frame() != "symbolicated" || took > 6*time.Second {
			t.Errorf("a module of the others took %v: %s", took, r.Text)
		}
	}
	answer := sendTo(t, "GET", s.url+"/requests/"+pending.ID+"?timeout=30", "", "")
	if answer.frame() != "symbolicated" || !slices.ContainsFunc(answer.module().Candidates, func(c replyCandidate) bool {
		return c.Source == "dead" && c.Download.Status == "error" && strings.HasPrefix(c.Download.Details, "download timed out")
	}) {
		t.Errorf("the one that waited for it: %s", answer.Text)
	}
	start = time.Now()
	if again := s.symbolicate(t, "", slow, ""); again.frame() != "symbolicated" || time.Since(start) > 6*time.Second {
		t.Errorf("the next one, after %v: %s", time.Since(start), again.Text)
	}
}

// relay is a way to a server. When so many bytes have come over it, one of its
// connections stands still and then ends, when that is wanted.
type relay struct {
	at      string
	reached chan struct{}
	end     chan struct{}
}

func newRelay(t *testing.T, to string, bytes int64) *relay {
	r := &relay{reached: make(chan struct{}), end: make(chan struct{})}
	var passed atomic.Int64
	var once sync.Once
	r.at = trial.NewListener(t, func(c net.Conn) {
		up, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer up.Close()
		go func() {
			_, _ = io.Copy(up, c) // until one of them ends
			_ = up.Close()
		}()
		for b := make([]byte, 64<<10); ; {
			n, err := up.Read(b)
			mine := false
			if passed.Add(int64(n)) >= bytes {
				once.Do(func() { mine = true })
			}
			if mine {
				close(r.reached)
				<-r.end
				return
			}
			if _, wrong := c.Write(b[:n]); err != nil || wrong != nil {
				return
			}
		}
	})
	return r
}

// An object store is killed in the middle of a file. If it is back at once, the
// download continues. If not, the response has the failure, and the file is found when
// its negative entry is invalidated.
func TestAStoreThatIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	sym := trial.NewSym(1, 40_000)
	for _, back := range []bool{true, false} {
		store := s3test.Run(t)
		file := filepath.Join(store.Folder, filepath.FromSlash(sym.Path()))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, sym.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		way := newRelay(t, strings.TrimPrefix(store.Endpoint(), "http://"), 1<<20)
		up := trial.NewUpstream(t)
		other := trial.NewSym(2, 10)
		up.Do(other.Path(), other)
		s := open(t, t.TempDir(), sourcesOf("", up)+fmt.Sprintf("- {id: store, type: s3, bucket: %s, region: [us-east-1, 'http://%s'], access_key: %s, secret_key: %s, filters: {filetypes: [breakpad]}}\n",
			s3test.Bucket, way.at, s3test.AccessKey, s3test.SecretKey))
		var first reply
		done := make(chan struct{})
		go func() {
			defer close(done)
			first = s.symbolicate(t, "", jsonOf(sym), "")
		}()
		<-way.reached
		store.Kill()
		if back {
			store.Start()
		}
		close(way.end)
		<-done
		if back {
			if first.frame() != "symbolicated" {
				t.Errorf("it is back at once: %s", first.Text)
			}
			continue
		}
		if first.frame() != "missing" || first.module().Status != "fetching_failed" {
			t.Errorf("it is gone: %s", first.Text)
		}
		if r := s.symbolicate(t, "", jsonOf(other), ""); r.frame() != "symbolicated" {
			t.Errorf("what another source has: %s", r.Text)
		}
		store.Start()
		if r := s.symbolicate(t, "", jsonOf(sym), ""); r.Text != first.Text {
			t.Errorf("it is back, but what was found out holds: %s", r.Text)
		}
		s.forget(t, jsonOf(sym))
		if r := s.symbolicate(t, "", jsonOf(sym), ""); r.frame() != "symbolicated" {
			t.Errorf("it is back: %s", r.Text)
		}
	}
}

// The bucket of the state may have been deleted, or its credentials.
func TestUploadsAreNotMissingWhileTheStateIs(t *testing.T) {
	t.Parallel()
	place := s3test.Run(t).Place()
	missing, refused := place, place
	missing.Bucket, refused.SecretKey = "none", "wrong"
	for name, p := range map[string]s3test.Place{"missing": missing, "refused": refused} {
		s := open(t, t.TempDir(), p.State(p.Endpoint, "")+"debuginfod: {disable_reset: true}\n")
		for path, want := range map[string]int{
			"/buildid/0f1e2d3c4b5a69788796a5b4c3d2e1f0/debuginfo":              http.StatusBadGateway,
			"/libkettle.so/0F1E2D3C4B5A69788796A5B4C3D2E1F00/libkettle.so.sym": http.StatusBadGateway,
			"/api/0/projects/acme/default/files/dsyms/":                        http.StatusServiceUnavailable,
		} {
			if a := sendTo(t, "GET", s.url+path, "", ""); a.Code != want {
				t.Errorf("%s, %s: %d %s, want %d", name, path, a.Code, a.Text, want)
			}
		}
		r := s.symbolicate(t, "", trial.Kettle, "")
		if r.module().Status != "fetching_failed" {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

// The bucket of the state takes connections and then never says anything.
func TestLookupsDoNotWaitForAStateThatHangs(t *testing.T) {
	t.Parallel()
	place := s3test.Run(t).Place()
	var hangs atomic.Bool
	at := trial.NewListener(t, func(c net.Conn) {
		up, err := net.Dial("tcp", strings.TrimPrefix(place.Endpoint, "http://"))
		if err != nil {
			return
		}
		defer up.Close()
		go func() { _, _ = io.Copy(up, c) }() // until one of them ends
		for b := make([]byte, 64<<10); ; {
			n, err := up.Read(b)
			if hangs.Load() {
				_, _ = io.Copy(io.Discard, c)
				return
			}
			if _, wrong := c.Write(b[:n]); err != nil || wrong != nil {
				return
			}
		}
	})
	up := trial.NewUpstream(t)
	up.Do("", trial.File([]byte(trial.KettleSym)))
	s := open(t, t.TempDir(), sourcesOf("", up)+fmt.Sprintf("- {id: state, type: s3, bucket: %s, region: [us-east-1, 'http://%s'], access_key: %s, secret_key: %s, layout: {type: elastic}}\nstate: state\ndebuginfod: {disable_reset: true}\n",
		place.Bucket, at, place.AccessKey, place.SecretKey))
	if r := s.symbolicate(t, "", trial.Kettle, ""); r.frame() != "symbolicated" {
		t.Fatalf("while the state is there: %s", r.Text)
	}
	hangs.Store(true)
	impatient := http.Client{Timeout: time.Second}
	waittest.Until(t, "the node has noticed", func() bool {
		resp, err := impatient.Get(s.url + "/buildid/0f1e2d3c4b5a69788796a5b4c3d2e1f0/debuginfo")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusBadGateway
	})
	start := time.Now()
	r := s.symbolicate(t, "", strings.ReplaceAll(trial.Kettle, "kettle", "late"), "")
	if took := time.Since(start); r.frame() != "symbolicated" || took > 6*time.Second {
		t.Errorf("a module of the other source took %v: %s", took, r.Text)
	}
}
