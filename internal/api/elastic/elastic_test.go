package elastic_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
	"symbolon/internal/api/elastic"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/fault"
	format "symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

const (
	key    = "aWQ6c2VjcmV0" // id:secret
	fileID = "mBd-LB_f9KGc-4a6vRFoGw"
)

// stalled is a bucket that does not answer.
type stalled struct{ bucket.Bucket }

func (stalled) Put(context.Context, string, io.Reader, bucket.Attrs) (bool, error) {
	return false, fault.New(fault.Timeout, "bucket", "no answer")
}

// door is a server with the interface of profilers alone.
func door(t *testing.T, cfg elastic.Config, b bucket.Bucket) (http.Handler, *bytes.Buffer, *[]ident.Module) {
	t.Helper()
	routes, log, announced := routes(t, cfg, b)
	return api.New(api.Config{}, api.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}, routes), log, announced
}

func routes(t *testing.T, cfg elastic.Config, b bucket.Bucket) ([]api.Route, *bytes.Buffer, *[]ident.Module) {
	t.Helper()
	cfg.APIKeys = []bin.Secret{bin.NewSecret(key)}
	log, announced := &bytes.Buffer{}, &[]ident.Module{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	store := symbfile.New(cfg.Uploads, ingest.Deps{
		Bucket: b, Now: time.Now, Log: logger, Spool: func() (cache.Spool, error) { return cachetest.Spool(t) },
	})
	ring := token.NewRing(cfg.Tokens(), b, time.Now, logger)
	d := elastic.New(cfg, elastic.Deps{
		Store: store, Grant: api.NewAccess(api.AccessConfig{}, ring, nil).Grant, IsOpen: ring.IsOpen, Log: logger,
		Run: func(context.Context, *token.Grant, *symbolicate.Request) (*symbolicate.Result, error) {
			return nil, errors.New("no engine")
		},
		Announce: func(_ context.Context, m ident.Module) { *announced = append(*announced, m) },
	})
	return d.Routes(), log, announced
}

// ask sends a part; of each pair of more the first is a header. No header is
// sent whose value is "none".
func ask(h http.Handler, body []byte, more ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/api/symbols-ranges", bytes.NewReader(body))
	headers := append([]string{"Authorization", "ApiKey " + key, "FileID", fileID, "FilePart", "0", "FileParts", "1"}, more...)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "none" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// ranges is a symbfile with one function, pads one with a return pad.
func ranges(t testing.TB, name string) []byte {
	return symb(t, func(w *format.Writer) error {
		return w.Range(&format.Range{VA: 0x1000, Length: 16, Func: []byte(name)})
	})
}

func pads(t testing.TB) []byte {
	return symb(t, func(w *format.Writer) error {
		return w.Pad(&format.Pad{VA: 0x1000, Frames: []format.PadFrame{{Func: []byte("f")}}})
	})
}

func symb(t testing.TB, write func(*format.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	w := format.NewWriter(&b)
	if err := errors.Join(write(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pack is b as gzip and as zstd.
func pack(t *testing.T, b []byte) (packed, squeezed []byte) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), e.EncodeAll(b, nil)
}

func TestRefusalsHaveStatusAndCode(t *testing.T) {
	good := ranges(t, "f")
	packed, squeezed := pack(t, good)
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-6] ^= 1 // of the sum
	for name, c := range map[string]struct {
		body   []byte
		more   []string
		status int
		code   string
	}{
		"no key":                 {good, []string{"Authorization", "none"}, 401, "1008"},
		"another key":            {good, []string{"Authorization", "ApiKey aWQ6c2VjcmV1"}, 401, "1008"},
		"no file id":             {good, []string{"FileID", "none"}, 400, "1001"},
		"the id of zeros":        {good, []string{"FileID", strings.Repeat("A", 22)}, 400, "1001"},
		"an octal base":          {good, []string{"Symbolon-Image-Base", "0o17"}, 400, "1012"},
		"a binary base":          {good, []string{"Symbolon-Image-Base", "0b11"}, 400, "1012"},
		"a base with a line":     {good, []string{"Symbolon-Image-Base", "1_000"}, 400, "1012"},
		"no such part":           {good, []string{"FilePart", "1"}, 400, "1002"},
		"no number":              {good, []string{"FileParts", "1e3"}, 400, "1002"},
		"too many parts":         {good, []string{"FileParts", "32768"}, 400, "1002"},
		"an empty number":        {good, []string{"FileParts", ""}, 400, "1002"},
		"an upload with a space": {good, []string{"Symbolon-Upload", "a b"}, 400, "1012"},
		"a long upload":          {good, []string{"Symbolon-Upload", strings.Repeat("a", 65)}, 400, "1012"},
		"a bad build id":         {good, []string{"Symbolon-Build-ID", "xyz"}, 400, "1012"},
		"a bad base":             {good, []string{"Symbolon-Image-Base", "here"}, 400, "1012"},
		"no symbfile":            {[]byte("\x7fELF"), nil, 400, "1003"},
		"nothing":                {nil, nil, 400, "1003"},
		"cut":                    {good[:len(good)-1], nil, 400, "1003"},
		"return pads":            {pads(t), nil, 400, "1004"},
		"too large":              {bytes.Repeat(good, 100), nil, 413, "1006"},
		"another coding":         {good, []string{"Content-Encoding", "br"}, 415, "1011"},
		"no gzip":                {good, []string{"Content-Encoding", "GZIP"}, 400, "1003"},
		"no zstd":                {good, []string{"Content-Encoding", "zstd"}, 400, "1003"},
		"damaged gzip":           {damaged, []string{"Content-Encoding", "gzip"}, 400, "1003"},
		"gzip that is cut":       {packed[:len(packed)-9], []string{"Content-Encoding", "gzip"}, 400, "1007"},
		"zstd that is cut":       {squeezed[:len(squeezed)-1], []string{"Content-Encoding", "zstd"}, 400, "1007"},
	} {
		h, log, announced := door(t, elastic.Config{Uploads: symbfile.Config{MaxPart: 1 << 10}}, mem.New())
		w := ask(h, c.body, c.more...)
		var got struct {
			Success *bool
			UUID    string
			Status  int
			Error   struct{ Code, Text string }
		}
		d := json.NewDecoder(w.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got.Success == nil || *got.Success {
			t.Errorf("%s: success is not false", name)
		}
		if got.Status != w.Code {
			t.Errorf("%s: status %d in the body of an answer with status %d", name, got.Status, w.Code)
		}
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d", name, w.Code, c.status)
		}
		if got.Error.Code != c.code {
			t.Errorf("%s: code %q, want %q", name, got.Error.Code, c.code)
		}
		if got.Error.Text == "" {
			t.Errorf("%s: the error has no text", name)
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(got.UUID) || !strings.Contains(log.String(), got.UUID) {
			t.Errorf("%s: invalid uuid %s, or missing in the log: %s", name, got.UUID, log)
		}
		if (w.Code == 401) != (w.Header().Get("WWW-Authenticate") == "ApiKey") || len(*announced) != 0 {
			t.Errorf("%s: %v, %v", name, w.Header(), *announced)
		}
	}
}

func TestPublishingInvalidatesModules(t *testing.T) {
	h, _, announced := door(t, elastic.Config{}, mem.New())
	id, err := ident.ParseFileID(fileID)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1, 1} {
		w := ask(h, ranges(t, fmt.Sprint("f", i%2)), "FilePart", fmt.Sprint(i%2), "FileParts", "2", "Symbolon-Build-ID", "0123456789abcdef0123", "Symbolon-Image-Base", "0x400000")
		if w.Code != http.StatusOK || w.Body.String() != `{"success":true,"status":200}` || len(*announced) != want {
			t.Fatalf("part %d: %d %s, %v", i, w.Code, w.Body, *announced)
		}
	}
	if m := (*announced)[0]; m.FileID != id || m.CodeID != "0123456789abcdef0123" || m.Type != ident.TypeELF {
		t.Errorf("%+v", m)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/symbols/"+id.Hex(), nil))
	want := regexp.MustCompile(`^{"fileid":"mBd-LB_f9KGc-4a6vRFoGw","build_id":"0123456789abcdef0123","image_base":"0x400000","ranges":{"content":"[0-9a-f]{64}","parts":2,"records":2,"size":\d+,"published":"[^"]+"},"returnpads":null}$`)
	if w.Code != http.StatusOK || !want.MatchString(w.Body.String()) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestStoreWithoutResponseIs503(t *testing.T) {
	h, _, _ := door(t, elastic.Config{}, stalled{mem.New()})
	if w := ask(h, ranges(t, "f")); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"Code":"1010"`) {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
}

func TestInvalidLookupsAreRejected(t *testing.T) {
	h, _, _ := door(t, elastic.Config{MaxAddresses: 3}, mem.New())
	lookup := `{"fileid":"` + fileID + `","addrs":[`
	for body, want := range map[string]int{
		``: 400, `[]`: 400, `{}`: 400, `{"lookups":{}}`: 400, `{"lookups":[1]}`: 400, `{"lookups":[{}]}`: 400,
		`{"lookups":[{"fileid":"` + strings.Repeat("0", 32) + `","addrs":[1]}]}`: 400,
		`{"lookups":[{"fileid":"x","addrs":[1]}]}`:                               400,
		`{"lookups":[` + lookup + `"zz"]}]}`:                                     400,
		`{"lookups":[` + lookup + `-1]}]}`:                                       400,
		`{"lookups":[` + lookup + `1.5]}]}`:                                      400,
		`{"lookups":[` + lookup + `1]}]} x`:                                      400,
		`{"lookups":[` + lookup + `1,2,3,4]}]}`:                                  413,
		`{"lookups":[` + lookup + `18446744073709551616]}]`:                      400,
		`{"lookups":[` + lookup + `1,"0x2","3"]}]}`:                              500, // without an engine
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/symbols/lookup", strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, want)
		}
		number := strings.Contains(body, "-1") || strings.Contains(body, "1.5") || strings.Contains(body, "zz") || strings.Contains(body, "18446744073709551616")
		if number != strings.Contains(w.Body.String(), "invalid address") {
			t.Errorf("%s: %s", body, w.Body)
		}
	}
	for path, want := range map[string]int{"x": 400, strings.Repeat("A", 22): 400, fileID + "?addr=x": 400, fileID: 404, fileID + "?addr=0x1": 500} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/symbols/"+path, nil))
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

func TestNumberOfFilesOfALookupIsLimited(t *testing.T) {
	d := elastic.New(elastic.Config{}, elastic.Deps{})
	for n, want := range map[int]bool{5000: true, 5001: false} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"fileid":"%032x","addr":1}`, i+1)
		}
		if _, files, err := d.Decode(strings.NewReader(b.String()), true); (err == nil) != want || files != 5000 {
			t.Errorf("%d files: %d, %v", n, files, err)
		}
	}
}

// FuzzQuestion compares with encoding/json what is taken for a question.
func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		`{"lookups":[{"fileid":"` + fileID + `","addrs":["0x1",2]},{"addr":7,"fileid":"` + fileID + `"}]}`,
		`{"x":[{"y":null}],"lookups":[]}`, `{"lookups":[{"fileid":1}]}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(`{"fileid":"`+fileID+`","addr":"0x10"}`+"\n"+seed), true)
	}
	d := elastic.New(elastic.Config{MaxAddresses: 100}, elastic.Deps{})
	f.Fuzz(func(t *testing.T, body []byte, lines bool) {
		addrs, files, err := d.Decode(bytes.NewReader(body), lines)
		if addrs > 101 || files > 101 {
			t.Fatalf("%d addresses of %d files", addrs, files)
		}
		if err != nil || lines {
			return
		}
		var plain struct {
			Lookups []struct {
				FileID string `json:"fileid"`
			}
		}
		if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &plain); err != nil && !strings.Contains(err.Error(), "exceeded max depth") {
			var wrong *json.UnmarshalTypeError
			if !errors.As(err, &wrong) {
				t.Fatalf("accepted, but not JSON: %v", err)
			}
		}
	})
}

func TestKeyOfBothListsMayUpload(t *testing.T) {
	both := []bin.Secret{bin.NewSecret(key)}
	for range 20 {
		h, _, _ := door(t, elastic.Config{ReadKeys: both}, mem.New())
		if w := ask(h, ranges(t, "f")); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}

func TestTagsDifferByState(t *testing.T) { synctest.Test(t, tagsDifferByState) }

func tagsDifferByState(t *testing.T) {
	h, _, _ := door(t, elastic.Config{}, mem.New())
	tag := func() string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/mB/d-/"+fileID+"/ranges", nil))
		return w.Header().Get("ETag") + " of " + fmt.Sprint(w.Body.Len())
	}
	ask(h, ranges(t, "f"))
	before := tag()
	time.Sleep(time.Millisecond)
	ask(h, ranges(t, "f"), "Symbolon-Build-ID", "0123456789abcdef0123")
	if after := tag(); strings.Split(before, " ")[0] == strings.Split(after, " ")[0] || before == after {
		t.Errorf("%s, then %s", before, after)
	}
}

func TestKeysAreSharedByTheNodesOfAStore(t *testing.T) {
	b, now := mem.New(), time.Now()
	clock := func() time.Time { return now }
	one := token.NewRing(nil, b, clock, slog.New(slog.DiscardHandler))
	h, _, _ := door(t, elastic.Config{}, b)
	text, k, err := one.Add(t.Context(), token.Token{Grant: token.Key("for tests", token.Upload)})
	if err != nil || k.ID == "" || bytes.Contains(k.Hash, []byte(k.ID)) {
		t.Fatal(k, err)
	}
	if w := ask(h, ranges(t, "f"), "Authorization", "Bearer "+text); w.Code != http.StatusOK {
		t.Errorf("a key of another node: %d %s", w.Code, w.Body)
	}
	if err := one.Revoke(t.Context(), "missing"); err == nil {
		t.Error("Revoke of a missing key succeeded")
	}
	if list, err := one.List(t.Context()); err != nil || len(list) != 1 || list[0].Name != "for tests" {
		t.Error(list, err)
	}
	if err := one.Revoke(t.Context(), k.ID); err != nil {
		t.Error(err)
	}
	if list, err := one.List(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

func TestKeysAreCheckedBeforeBodies(t *testing.T) {
	h, _, _ := door(t, elastic.Config{ReadKeys: []bin.Secret{bin.NewSecret("cjpy")}}, mem.New())
	srv := httptest.NewServer(h)
	defer srv.Close()
	for _, path := range []string{"/api/symbols-ranges", "/api/symbols-returnpads", "/api/symbols/lookup"} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey YTpi\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n", path)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %v, %v", path, res, err)
		}
		conn.Close()
	}
}

func TestBasesAreDecimalOrHexadecimal(t *testing.T) {
	for text, want := range map[string]string{"0400000": "0x61a80", "4194304": "0x400000", "0x400000": "0x400000", "0X4A": "0x4a"} {
		h, _, _ := door(t, elastic.Config{}, mem.New())
		if w := ask(h, ranges(t, "f"), "Symbolon-Build-ID", "0123456789abcdef0123", "Symbolon-Image-Base", text); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/symbols/"+fileID, nil))
		if !strings.Contains(w.Body.String(), `"image_base":"`+want+`"`) {
			t.Errorf("%s is not %s: %s", text, want, w.Body)
		}
	}
}

// The build id of the ranges counts, even if the return pads have another one.
func TestBuildIDsOfRangesComeFirst(t *testing.T) {
	h, _, _ := door(t, elastic.Config{}, mem.New())
	ask(h, ranges(t, "f"), "Symbolon-Build-ID", "0123456789abcdef0123", "Symbolon-Image-Base", "0x400000")
	r := httptest.NewRequest(http.MethodPost, "/api/symbols-returnpads", bytes.NewReader(pads(t)))
	for name, text := range map[string]string{"Authorization": "ApiKey " + key, "FileID": fileID, "Symbolon-Build-ID": "ffff456789abcdef0123", "Symbolon-Image-Base": "0x10000"} {
		r.Header.Set(name, text)
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
	for range 20 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/symbols/"+fileID, nil))
		if body := w.Body.String(); !strings.Contains(body, `"build_id":"0123456789abcdef0123","image_base":"0x400000"`) || strings.Contains(body, "null") {
			t.Fatal(body)
		}
	}
}
