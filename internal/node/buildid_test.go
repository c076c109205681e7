package node_test

import (
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/trial"
)

// TestV5FindsByTheBuildIDOfAFileSeenBefore asks by a debug id alone for what a
// server has by its build id: before and after a request that names the build id,
// and after a restart. That the server had no .sym file is remembered meanwhile.
func TestV5FindsByTheBuildIDOfAFileSeenBefore(t *testing.T) {
	t.Parallel()
	const (
		byCode = `"type":"elf","code_id":"caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d","code_file":"kiln"`
		v5     = `{"extensions":true,"memoryMap":[["kiln","3DABEECA56AC7938C0A40E7BBC2A2AD90"]],"stacks":[[[0,4224]]]}`
		name   = `"function":"stack"`
	)
	u := trial.NewUpstream(t)
	u.Do("/ca/eeab3dac563879c0a40e7bbc2a2ad961b2aa8d.debug", trial.File(trial.Corpus(t, "debuglink.debug")))
	data := t.TempDir()
	s := open(t, data, sourcesOf("", u))
	ask := func() string {
		code, text := s.call(t, http.MethodPost, "/symbolicate/v5", v5)
		if code != http.StatusOK {
			t.Fatalf("%d: %s", code, text)
		}
		return strings.ReplaceAll(text, " ", "")
	}
	if text := ask(); strings.Contains(text, name) {
		t.Fatalf("before: %s", text)
	}
	if r := s.symbolicate(t, "", byCode, ""); r.module().Status != "found" {
		t.Fatalf("by its build id: %s", r.Text)
	}
	if text := ask(); !strings.Contains(text, name) {
		t.Errorf("after: %s", text)
	}
	s.stop()
	s = open(t, data, sourcesOf("", u))
	if text := ask(); !strings.Contains(text, name) {
		t.Errorf("after a restart: %s", text)
	}
}
