package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/companion"
	"symbolon/internal/config"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/source"
	"symbolon/internal/token"
	"symbolon/internal/waittest"
)

// depot is a server and its node.
type depot struct {
	t    *testing.T
	node *node.Node
	data string
	url  string
	key  string
}

// startDepot starts a server with a configuration, and creates a key.
func startDepot(t *testing.T, text, data string) *depot {
	t.Helper()
	cfg, _, err := readText(text)
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, cfg, data)
}

func startWith(t *testing.T, cfg *config.Config, data string) *depot {
	t.Helper()
	cfg.Data = data
	n, err := node.New(cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(front)
	t.Cleanup(func() {
		server.Close()
		n.Close()
	})
	var key bytes.Buffer
	if err := n.Token(t.Context(), node.TokenQuery{Verb: "add", Token: token.Token{Grant: token.Key("test", token.Upload)}}, &key); err != nil {
		t.Fatal(err)
	}
	return &depot{t, n, data, server.URL, strings.TrimSpace(key.String())}
}

// do sends a request, with header lines such as "FileID: x".
func (s *depot) do(method, path string, body []byte, headers ...string) (int, string, http.Header) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// upload uploads a part of a file.
func (s *depot) upload(kind string, id ident.FileID, part, parts int, body []byte, more ...string) {
	s.t.Helper()
	headers := append([]string{"Authorization: ApiKey " + s.key, "FileID: " + id.Base64(), fmt.Sprint("FilePart: ", part), fmt.Sprint("FileParts: ", parts)}, more...)
	if status, text, _ := s.do(http.MethodPost, "/api/symbols-"+kind, body, headers...); status != http.StatusOK || text != `{"success":true,"status":200}` {
		s.t.Fatalf("part %d of %d: %d %s", part, parts, status, text)
	}
}

// compiled is a compiled program and its symbfiles.
type compiled struct {
	path         string
	id           ident.FileID
	module       ident.Module
	base         uint64
	ranges, pads []byte
}

func extractBinary(t *testing.T, name string) *compiled {
	t.Helper()
	b := &compiled{path: filepath.Join("../../internal/object/testdata/corpus", name)}
	dir := t.TempDir()
	outs := map[string]*[]byte{"ranges": &b.ranges}
	doing(t, "symbfile", "extract", "-e", b.path, "--ranges", filepath.Join(dir, "ranges"))
	if !strings.HasPrefix(name, "s390x") { // whose calls are not known
		doing(t, "symbfile", "retpads", "-e", b.path, "--ranges", filepath.Join(dir, "ranges"), "--out", filepath.Join(dir, "pads"))
		outs["pads"] = &b.pads
	}
	text, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	if b.id, err = ident.NewFileID(bytes.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
	for file, to := range outs {
		if *to, err = os.ReadFile(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := openDebug(&env{stderr: io.Discard}, b.path, companion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b.module, b.base = d.Object().Info().Module, d.Object().Info().LoadAddress
	return b
}

// doing runs a command that must succeed, and returns its output.
func doing(t *testing.T, args ...string) string {
	t.Helper()
	return doingWith(t, "", args...)
}

func doingWith(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs}
	if code := run(t.Context(), args, e); code != exitDone {
		t.Fatalf("%v: exit %d, %s", args, code, errs.String())
	}
	return out.String()
}

// addressesOf returns addresses at the borders of the ranges of a symbfile, and in
// them.
func addressesOf(t *testing.T, ranges []byte) (list []uint64) {
	t.Helper()
	r := symbfile.NewReader(bytes.NewReader(ranges))
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(list)
			return slices.Compact(list)
		}
		if err != nil {
			t.Fatal(err)
		}
		from, size := rec.Range.VA, rec.Range.Length
		list = append(list, from, from+size/2, from+size-1, from+size)
	}
}

type shown struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Inlined  bool   `json:"inlined"`
}

// lookup looks addresses up through the interface of profilers.
func (s *depot) lookup(id ident.FileID, addrs []uint64) (out [][]shown) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"lookups": []any{map[string]any{"fileid": id.Base64(), "addrs": addrs}}})
	if err != nil {
		s.t.Fatal(err)
	}
	status, text, _ := s.do(http.MethodPost, "/api/symbols/lookup", body)
	var a struct {
		Lookups []struct {
			Results []struct {
				Addr   string  `json:"addr"`
				Frames []shown `json:"frames"`
			} `json:"results"`
		} `json:"lookups"`
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK || len(a.Lookups) != 1 || len(a.Lookups[0].Results) != len(addrs) {
		s.t.Fatalf("%d %.300s, %v", status, text, err)
	}
	for i, r := range a.Lookups[0].Results {
		if r.Addr != fmt.Sprintf("%#x", addrs[i]) {
			s.t.Fatalf("answer %d is about %s, not %#x", i, r.Addr, addrs[i])
		}
		out = append(out, r.Frames)
	}
	return out
}

// v5 looks addresses relative to the module up through the interface of Mozilla.
func (s *depot) v5(m ident.Module, addrs []uint64) (out []string) {
	s.t.Helper()
	var stack []any
	for _, a := range addrs {
		stack = append(stack, []any{0, a})
	}
	body, err := json.Marshal(map[string]any{"memoryMap": []any{[]any{"a.out", m.DebugID.Breakpad()}}, "stacks": []any{stack}})
	if err != nil {
		s.t.Fatal(err)
	}
	status, text, _ := s.do(http.MethodPost, "/symbolicate/v5", body)
	var a struct {
		Results []struct {
			Stacks [][]struct {
				shown
				Inlines []shown `json:"inlines"`
			} `json:"stacks"`
		} `json:"results"`
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK {
		s.t.Fatalf("%d %.300s, %v", status, text, err)
	}
	for _, f := range a.Results[0].Stacks[0] {
		out = append(out, chain(append(f.Inlines, f.shown)))
	}
	return out
}

// sentry looks addresses relative to the module up through the interface of Sentry,
// each in a stack of its own.
func (s *depot) sentry(m ident.Module, addrs []uint64) (out []string) {
	s.t.Helper()
	const at = 0x10000000
	var stacks []any
	for _, a := range addrs {
		stacks = append(stacks, map[string]any{"frames": []any{map[string]any{"instruction_addr": fmt.Sprintf("%#x", at+a)}}})
	}
	body, err := json.Marshal(map[string]any{
		"modules":     []any{map[string]any{"type": "elf", "code_id": m.CodeID.String(), "image_addr": fmt.Sprintf("%#x", at)}},
		"stacktraces": stacks,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	status, text, _ := s.do(http.MethodPost, "/symbolicate", body, "Content-Type: application/json")
	var a struct {
		Stacktraces []struct {
			Frames []struct {
				Function string `json:"function"`
				Path     string `json:"abs_path"`
				Line     int    `json:"lineno"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK || len(a.Stacktraces) != len(addrs) {
		s.t.Fatalf("%d %.300s, %v", status, text, err)
	}
	for _, stack := range a.Stacktraces {
		var frames []shown
		for _, f := range stack.Frames {
			frames = append(frames, shown{Function: f.Function, File: f.Path, Line: f.Line})
		}
		out = append(out, chain(frames))
	}
	return out
}

// chain returns frames as one text, with their files and lines if known.
func chain(frames []shown) string {
	var list []string
	for _, f := range frames {
		text := f.Function
		if f.File != "" {
			text += fmt.Sprintf(" %s:%d", f.File, f.Line)
		}
		list = append(list, text)
	}
	return strings.Join(list, ";")
}

// Uploads give the same frames through all interfaces and the command line, also in
// parts, and on a server that uses the first one as a mirror.
func TestUploadsAnswerEverywhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gcc-cc-dwarf5", "clang-dwarf4", "no-build-id", "aarch64", "s390x-be", "thumb"} {
		t.Run(name, func(t *testing.T) {
			b := extractBinary(t, name)
			s := startDepot(t, "", t.TempDir())
			known := []string{"Symbolon-Build-ID: " + b.module.CodeID.String(), fmt.Sprintf("Symbolon-Image-Base: %#x", b.base)}
			if b.module.CodeID.IsZero() {
				known = nil
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ranges"), b.ranges, 0o600); err != nil {
				t.Fatal(err)
			}
			doing(t, "symbfile", "split", "--part-size", "1000B", "--out", filepath.Join(dir, "part"), filepath.Join(dir, "ranges"))
			parts, err := filepath.Glob(filepath.Join(dir, "part.*"))
			if err != nil || len(parts) < 2 {
				t.Fatal(parts, err)
			}
			before := s.lookup(b.id, []uint64{b.base + 0x1000})
			if len(before[0]) != 0 {
				t.Fatalf("before the upload: %v", before)
			}
			for i := range parts {
				i = len(parts) - 1 - i
				text, err := os.ReadFile(fmt.Sprintf("%s/part.%d", dir, i))
				if err != nil {
					t.Fatal(err)
				}
				s.upload("ranges", b.id, i, len(parts), text, known...)
			}
			addrs := addressesOf(t, b.ranges)
			plain := s.lookup(b.id, addrs)
			var relative []uint64
			var asked strings.Builder
			for _, a := range addrs {
				relative = append(relative, a-b.base)
				fmt.Fprintf(&asked, "%#x\n", a)
			}
			local := strings.Split(strings.TrimSpace(doingWith(t, asked.String(), "symbfile", "lookup", filepath.Join(dir, "ranges"))), "\n")
			found := 0
			for i, line := range local {
				var a struct{ Frames []shown }
				if err := json.Unmarshal([]byte(line), &a); err != nil {
					t.Fatal(err)
				}
				if chain(a.Frames) != chain(plain[i]) {
					t.Errorf("%#x: the file says %s, the server %s", addrs[i], chain(a.Frames), chain(plain[i]))
				}
				found += len(a.Frames)
			}
			if found == 0 {
				t.Fatal("nothing is known at all")
			}
			if !b.module.CodeID.IsZero() {
				for i, got := range s.v5(b.module, relative) {
					if got != chain(plain[i]) {
						t.Errorf("%#x: v5 says %s, the interface of profilers %s", addrs[i], got, chain(plain[i]))
					}
				}
				for i, got := range s.sentry(b.module, relative) {
					if got != chain(plain[i]) {
						t.Errorf("%#x: Sentry's interface says %s, that of profilers %s", addrs[i], got, chain(plain[i]))
					}
				}
			}
			mirror := startDepot(t, fmt.Sprintf(`sources: [{id: mirror, type: http, url: "%s/", layout: {type: elastic}}]`, s.url), t.TempDir())
			for i, got := range mirror.lookup(b.id, addrs) {
				if chain(got) != chain(plain[i]) {
					t.Errorf("%#x: with a mirror %s, without %s", addrs[i], chain(got), chain(plain[i]))
				}
			}
			if b.pads != nil {
				s.upload("returnpads", b.id, 0, 1, b.pads)
			}
			answers, err := s.node.Frames(t.Context(), node.FileQuery{FileID: b.id, Addrs: addrs})
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range s.lookup(b.id, addrs) {
				var frames []shown
				for _, f := range answers[i].Frames {
					frames = append(frames, shown{Function: f.Function, File: f.File, Line: int(f.Line)})
				}
				if chain(frames) != chain(got) {
					t.Errorf("%#x: the command line says %s, the server %s", addrs[i], chain(frames), chain(got))
				}
			}
		})
	}
}

func TestMirrorsAreServed(t *testing.T) {
	b := extractBinary(t, "gcc-cc-dwarf5")
	s := startDepot(t, "", t.TempDir())
	path := "/" + source.ElasticPath(b.id, "")
	if status, _, _ := s.do(http.MethodGet, path+"metadata.json", nil); status != http.StatusNotFound {
		t.Errorf("metadata of nothing: %d", status)
	}
	s.upload("ranges", b.id, 0, 1, b.ranges)
	status, text, h := s.do(http.MethodGet, path+"metadata.json", nil)
	if want := fmt.Sprintf(`{"version":1,"symbolFileReferences":{"dwarfFileID":%q}}`, b.id.Base64()); status != http.StatusOK || text != want || h.Get("ETag") == "" {
		t.Errorf("metadata: %d %s %v", status, text, h)
	}
	status, whole, h := s.do(http.MethodGet, path+"ranges", nil)
	if status != http.StatusOK || !strings.HasPrefix(whole, "\x28\xb5\x2f\xfd") {
		t.Fatalf("ranges: %d %.20q", status, whole)
	}
	if status, _, _ := s.do(http.MethodGet, path+"ranges", nil, "If-None-Match: "+h.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("with the tag: %d", status)
	}
	if status, part, _ := s.do(http.MethodGet, path+"ranges", nil, "Range: bytes=10-29"); status != http.StatusPartialContent || part != whole[10:30] {
		t.Errorf("a range: %d %q", status, part)
	}
	if status, _, _ := s.do(http.MethodGet, path+"returnpads", nil); status != http.StatusNotFound {
		t.Errorf("pads that were not uploaded: %d", status)
	}
	for _, bad := range []string{"/zz/zz/" + b.id.Base64() + "/ranges", path[:7] + b.id.Hex() + "/ranges", "/..%2f/%2e%2e/..%2f..%2fetc%2fpasswd/ranges"} {
		if status, _, _ := s.do(http.MethodGet, bad, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d", bad, status)
		}
	}
}

func TestKeysOfProfilers(t *testing.T) {
	ours := t.TempDir()
	for name, conf := range map[string]string{
		"of the data folder": "",
		"of a source":        fmt.Sprintf("sources: [{id: ours, type: filesystem, path: %q, layout: {type: elastic}, is_public: true}]\nelastic: {store: ours}\n", ours),
	} {
		t.Run(name, func(t *testing.T) {
			s, folder := startDepot(t, conf, t.TempDir()), ours
			if conf == "" {
				folder = filepath.Join(s.data, "store")
			}
			testKeys(t, s, folder)
		})
	}
}

func testKeys(t *testing.T, s *depot, folder string) {
	b := extractBinary(t, "gcc-cc-dwarf5")
	lines := func(verb string, id ...string) string {
		var out bytes.Buffer
		q := node.TokenQuery{Verb: verb, Token: token.Token{Grant: token.Key("", token.Read)}}
		if len(id) > 0 {
			q.ID = id[0]
		}
		if err := s.node.Token(context.Background(), q, &out); err != nil {
			t.Fatal(verb, err)
		}
		return strings.TrimSpace(out.String())
	}
	ask := func(path, key string) int {
		method, headers := http.MethodGet, []string{}
		if path == "" {
			method, path, headers = http.MethodPut, "/api/symbols-ranges", []string{"FileID: " + b.id.Base64()}
		}
		if key != "" {
			headers = append(headers, "Authorization: "+key)
		}
		status, _, _ := s.do(method, path, b.ranges, headers...)
		return status
	}
	info := "/api/symbols/" + b.id.Base64()
	want := func(what string, got, wanted int) {
		t.Helper()
		if got != wanted {
			t.Errorf("%s: %d, want %d", what, got, wanted)
		}
	}
	want("an upload without a key", ask("", ""), 401)
	want("with nonsense", ask("", "ApiKey nonsense"), 401)
	want("with a key in another scheme", ask("", "Basic "+s.key), 401)
	want("with a key", ask("", "apikey "+s.key), 200)
	want("as a bearer", ask("", "Bearer "+s.key), 200)
	want("reading that is open", ask(info, ""), 200)
	s.upload("ranges", b.id, 0, 1, b.ranges, "Symbolon-Build-ID: "+b.module.CodeID.String(), fmt.Sprintf("Symbolon-Image-Base: %#x", b.base))
	at := []uint64{addressesOf(t, b.ranges)[0] - b.base}
	if got := s.v5(b.module, at); got[0] == "" {
		t.Error("another interface does not know what was uploaded")
	}
	reader := lines("add")
	want("an upload with a key for reading", ask("", "ApiKey "+reader), 403)
	if got := s.v5(b.module, at); got[0] != "" {
		t.Errorf("another interface needs no key to read %q", got)
	}
	want("reading without a key where there is one", ask(info, ""), 401)
	want("reading with it", ask(info, "ApiKey "+reader), 200)
	want("reading with a key for uploads", ask(info, "ApiKey "+s.key), 200)
	for line := range strings.Lines(lines("ls")) {
		if strings.Contains(line, reader) || strings.Contains(line, s.key) {
			t.Errorf("a key is listed: %s", line)
		}
		if id, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "upload") {
			lines("rm", id)
		}
	}
	want("a key that was removed", ask("", "ApiKey "+s.key), 401)
	stored, err := filepath.Glob(filepath.Join(folder, "keys", "*"))
	if err != nil || len(stored) != 3 { // added twice, removed once
		t.Errorf("what is stored: %v, %v", stored, err)
	}
	for _, name := range stored {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte(reader)) {
			t.Errorf("what is stored: %s, %v", text, err)
		}
	}
}

// Parts that different nodes took into one store are one file for all nodes.
func TestNodesShareAStore(t *testing.T) {
	b := extractBinary(t, "gcc-cc-dwarf5")
	conf := fmt.Sprintf("sources: [{id: ours, type: filesystem, path: %q, layout: {type: elastic}}]\nelastic: {store: ours}\n", t.TempDir())
	one, two := startDepot(t, conf, t.TempDir()), startDepot(t, conf, t.TempDir())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ranges"), b.ranges, 0o600); err != nil {
		t.Fatal(err)
	}
	var parts int
	out := doing(t, "symbfile", "split", "--part-size", "1000B", "--out", filepath.Join(dir, "part"), filepath.Join(dir, "ranges"))
	if _, err := fmt.Sscanf(out, "%d parts", &parts); err != nil || parts < 2 {
		t.Fatal(out, err)
	}
	addrs := addressesOf(t, b.ranges)
	for i := range parts {
		text, err := os.ReadFile(fmt.Sprintf("%s/part.%d", dir, i))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*depot{one, two} {
			if got := d.lookup(b.id, addrs[:1]); len(got[0]) != 0 {
				t.Fatalf("before part %d of %d: %v", i, parts, got)
			}
		}
		node := []*depot{one, two}[i%2]
		node.upload("ranges", b.id, i, parts, text)
	}
	first := (parts - 1) % 2 // the publisher knows at once, the other node after an invalidation
	answers := []*depot{one, two}[first].lookup(b.id, addrs)
	other := []*depot{one, two}[1-first]
	if err := other.node.Forget(t.Context(), ident.Module{FileID: b.id}); err != nil {
		t.Fatal(err)
	}
	for i, got := range other.lookup(b.id, addrs) {
		if chain(got) != chain(answers[i]) {
			t.Errorf("%#x: %s at one node, %s at the other", addrs[i], chain(answers[i]), chain(got))
		}
	}
}

// "verify --strict" accepts the files that a server accepts.
func TestVerifyIsAsStrictAsAServer(t *testing.T) {
	s := startDepot(t, "", t.TempDir())
	for what, r := range map[string]*symbfile.Range{
		"good":            {VA: 0x1000, Length: 16, Func: []byte("f")},
		"deep":            {VA: 0x1000, Length: 16, Func: []byte("f"), Depth: 1 << 20},
		"beyond the end":  {VA: 1<<64 - 8, Length: 16, Func: []byte("f")},
		"long beyond all": {VA: 0x1000, Length: 1 << 40, Func: []byte("f")},
	} {
		var b bytes.Buffer
		w := symbfile.NewWriter(&b)
		if err := errors.Join(w.Range(r), w.Close()); err != nil {
			t.Fatal(what, err)
		}
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := doing(t, "symbfile", "verify", name); !strings.Contains(out, "valid; 1 range and") {
			t.Errorf("%s: %s", what, out)
		}
		_, code := runHere(t, nil, "symbfile", "verify", "--strict", name)
		status, answer, _ := s.do(http.MethodPost, "/api/symbols-ranges", b.Bytes(), "FileID: "+ident.FileID{1, byte(len(what))}.Base64(), "Authorization: ApiKey "+s.key)
		if good := what == "good"; (code == exitDone) != good || (status == http.StatusOK) != good {
			t.Errorf("%s: exit %d, but the server says %d %s", what, code, status, answer)
		}
	}
}

// When another node closes reading, open tables stop answering, also on an idle node.
func TestNodesReadKeysOfOthers(t *testing.T) {
	t.Parallel()
	b := extractBinary(t, "gcc-cc-dwarf5")
	conf := fmt.Sprintf("sources: [{id: ours, type: filesystem, path: %q, layout: {type: elastic}}]\nelastic: {store: ours}\n", t.TempDir())
	one, two := startDepot(t, conf, t.TempDir()), startDepot(t, conf, t.TempDir())
	one.upload("ranges", b.id, 0, 1, b.ranges, "Symbolon-Build-ID: "+b.module.CodeID.String(), fmt.Sprintf("Symbolon-Image-Base: %#x", b.base))
	at := []uint64{addressesOf(t, b.ranges)[0] - b.base}
	if two.v5(b.module, at)[0] == "" {
		t.Fatal("the other node does not know what was uploaded")
	}
	if err := one.node.Token(t.Context(), node.TokenQuery{Verb: "add", Token: token.Token{Grant: token.Key("", token.Read)}}, io.Discard); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the other node stops answering", func() bool { return two.v5(b.module, at)[0] == "" })
}

// A file that is uploaded again replaces the one before, also in open tables: the next
// response has it.
func TestALaterUploadReplacesTheFile(t *testing.T) {
	s := startDepot(t, "", t.TempDir())
	id := ident.FileID{1, 2, 3}
	known := []string{"Symbolon-Build-ID: 0123456789abcdef0123456789abcdef01234567", "Symbolon-Image-Base: 0x400000"}
	m := ident.Module{Type: ident.TypeELF, CodeID: "0123456789abcdef0123456789abcdef01234567"}.Derive()
	for i := range 4 {
		name := fmt.Sprint("f", i)
		var b bytes.Buffer
		w := symbfile.NewWriter(&b)
		if err := errors.Join(w.Range(&symbfile.Range{VA: 0x401000, Length: 16, Func: []byte(name)}), w.Close()); err != nil {
			t.Fatal(err)
		}
		s.upload("ranges", id, 0, 1, b.Bytes(), known...)
		for what, ask := range map[string]func() string{
			"profilers": func() string { return chain(s.lookup(id, []uint64{0x401000})[0]) },
			"Mozilla's": func() string { return s.v5(m, []uint64{0x1000})[0] },
			"Sentry's":  func() string { return s.sentry(m, []uint64{0x1000})[0] },
		} {
			if got := ask(); got != name {
				t.Fatalf("upload %d: the interface of %s still says %q", i, what, got)
			}
		}
	}
}

// Uploads are read at any compression ratio.
func TestRepetitiveUploadsAnswer(t *testing.T) {
	t.Parallel()
	file := fixture.NewSymbfile()
	for range 10 {
		file.Table(strings.Repeat("x", 8<<20))
	}
	file.Message(fixture.SymbfileRange, fixture.Proto{}.Num(12, 0x401000).Num(2, 16).Text(3, "f"))
	for _, store := range []string{"", "elastic: {store: mine}\nsources: [{id: mine, type: filesystem, path: " + t.TempDir() + ", layout: {type: elastic}}]"} {
		s := startDepot(t, store, t.TempDir())
		id := ident.FileID{4, 5, 6}
		s.upload("ranges", id, 0, 1, file.Bytes())
		if got := chain(s.lookup(id, []uint64{0x401000})[0]); got != "f" {
			t.Errorf("with %q the function is %q", store, got)
		}
	}
}
