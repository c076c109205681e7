package node_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/filter/filtertest"
	"symbolon/internal/ident"
	"symbolon/internal/token"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// collector starts a next hop, and returns the configuration of a node before it and
// the last body it received.
func collector(t *testing.T, wait string) (config string, last *atomic.Pointer[[]byte]) {
	last = &atomic.Pointer[[]byte]{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		last.Store(&body)
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf("otlp: {forward: '%s', wait: %s}\n", server.URL, wait), last
}

// profilesOf returns profiles with a location in each module, of which the attribute and
// its value are given.
func profilesOf(addrs []uint64, attributes ...string) []byte {
	var tables, texts []byte
	for i, addr := range addrs {
		m := filtertest.Message
		tables = append(tables, m(1, m(5, i+1), 2, m(1, i+1, 2, addr), 6, m(1, 2*i+1, 2, m(8, 2*i+2)))...)
		texts = append(texts, m(5, "process.executable.build_id."+attributes[2*i], 5, attributes[2*i+1])...)
	}
	empty := filtertest.Message(1, "", 2, "", 3, "", 5, "", 6, "")
	return filtertest.Message(1, "", 2, bytes.Join([][]byte{empty, tables, texts}, nil))
}

// sendProfiles sends profiles with a token, or as a client of another machine.
func (s *station) sendProfiles(t *testing.T, body []byte, token string) (status int) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+"/v1development/profiles", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// A module whose file does not come in time has no names, and has them as soon as it
// came. The other one has names all the time.
func TestProfilesGoOnWithoutTheNamesThatAreNotReady(t *testing.T) {
	t.Parallel()
	config, last := collector(t, "50ms")
	u := trial.NewUpstream(t)
	slow, kiln := make(chan struct{}), trial.Corpus(t, "debuglink.debug")
	u.Do("/94/e4559d737bc9e7.debug", trial.File(trial.Corpus(t, "embed-source")))
	u.Do("/ca/eeab3dac563879c0a40e7bbc2a2ad961b2aa8d.debug", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-slow:
		case <-r.Context().Done():
		}
		trial.File(kiln).ServeHTTP(w, r)
	}))
	s := open(t, t.TempDir(), config+sourcesOf("", u))
	body := profilesOf([]uint64{0x2011e0, 0x4011b0}, "gnu", tileBuildID, "gnu", "caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d")
	names := func() (tile, kiln bool) {
		if status := s.sendProfiles(t, body, ""); status != 200 {
			t.Fatalf("status %d", status)
		}
		return bytes.Contains(*last.Load(), []byte("fire")), bytes.Contains(*last.Load(), []byte("sort_out"))
	}
	waittest.Until(t, "the names of the one that is ready", func() bool {
		tile, kiln := names()
		if kiln {
			t.Fatal("there is a name of a file that has not come")
		}
		return tile
	})
	close(slow)
	waittest.Until(t, "all names", func() bool {
		tile, kiln := names()
		return tile && kiln
	})
}

func TestProfilesNeedATokenOnceThereIsOne(t *testing.T) {
	t.Parallel()
	config, last := collector(t, "20s")
	s := open(t, t.TempDir(), config)
	program := trial.Corpus(t, "embed-source")
	hash, err := ident.NewFileID(bytes.NewReader(program), int64(len(program)))
	if err != nil {
		t.Fatal(err)
	}
	body := profilesOf([]uint64{0x2011e0}, "htlhash", hash.Hex())
	if status := s.sendProfiles(t, body, ""); status != 200 || !bytes.Equal(*last.Load(), body) {
		t.Errorf("while no token exists: status %d, and %q, want %q", status, *last.Load(), body)
	}
	s.upload(t, "tea", map[string][]byte{"tile": program})
	for _, c := range []struct {
		right   token.Right
		project string
		status  int
		isNamed bool
	}{
		{token.Read, "tea", 403, false},
		{"", "", 401, false},
		{token.Symbolicate, "coffee", 200, false},
		{token.Symbolicate, "tea", 200, true},
	} {
		last.Store(&[]byte{})
		text := ""
		if c.right != "" {
			text = addToken(t, s.Node, token.Grant{Rights: []token.Right{c.right}, Projects: []string{c.project}})
		}
		status := s.sendProfiles(t, body, text)
		if isNamed := strings.Contains(string(*last.Load()), "fire"); status != c.status || isNamed != c.isNamed {
			t.Errorf("%s in %s: status %d, named %v, want %d, %v", c.right, c.project, status, isNamed, c.status, c.isNamed)
		}
	}
}
