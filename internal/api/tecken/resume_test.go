package tecken_test

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"symbolon/internal/api/apitest"
	"symbolon/internal/bucket"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// planOf begins a session for a file, and returns its address.
func (s *server) planOf(secret string, m member) string {
	s.t.Helper()
	sum := md5.Sum([]byte(m.content))
	got := s.Ask(secret, "POST", "/upload/v2/", fmt.Sprintf(`{"files":[{"key":%q,"size":%d,"md5_hash":%q,"extra":1}]}`,
		m.name, len(m.content), hex.EncodeToString(sum[:])))
	got.Expect(201, `"upload_protocol":"gcs-resumable"`, `"type":"upload"`)
	var p struct {
		Files []struct{ Action struct{ URL string } }
	}
	if err := json.Unmarshal([]byte(got.Body), &p); err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimPrefix(p.Files[0].Action.URL, s.URL)
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestInterruptedUploadsResume(t *testing.T) {
	s := serve(t, store.Config{})
	m := symMember("tea.so", 1)
	at, body := s.planOf("tea", m), packed(m.content)
	put := func(from, to int) apitest.Answer {
		return s.Ask("", "PUT", at, body[from:to], "Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(body)))
	}
	if got := s.Ask("", "PUT", at, "", "Content-Range", fmt.Sprintf("bytes */%d", len(body))); got.Status != 308 || got.Header.Get("Range") != "" {
		t.Errorf("before the first part: got %d %v", got.Status, got.Header)
	}
	if got := put(0, 40); got.Status != 308 || got.Header.Get("Range") != "bytes=0-39" {
		t.Errorf("the first part: got %d %v", got.Status, got.Header)
	}
	if got := put(60, len(body)); got.Status != 308 || got.Header.Get("Range") != "bytes=0-39" {
		t.Errorf("a part too far: got %d %v", got.Status, got.Header)
	}
	s.Ask("", "PUT", at, "x", "Content-Range", "bytes 40-41/99999999999999").Expect(413, "uploads.max_request")
	if s.has("tea", 1) {
		t.Error("a part of a file is found")
	}
	sum := md5.Sum([]byte(body))
	put(40, len(body)).Expect(200, `"name":"`+m.name+`"`, fmt.Sprintf(`"size":"%d"`, len(body)), base64.StdEncoding.EncodeToString(sum[:]))
	if !s.has("tea", 1) {
		t.Error("the file is not found")
	}
}

func TestFilesOfASessionAreChecked(t *testing.T) {
	s := serve(t, store.Config{})
	lying := member{"tea.so/" + apitest.SymID(2) + "/tea.so.sym", apitest.SymFile("tea.so", 1)}
	s.Ask("", "PUT", s.planOf("tea", lying), packed(lying.content)).Expect(400, "by its path")
	m := symMember("tea.so", 1)
	s.Ask("", "PUT", s.planOf("tea", m), packed(m.content+"x")).Expect(400, "another size or MD5")
	if s.has("tea", 1) {
		t.Error("a refused file is found")
	}
	s.Ask("", "PUT", "/upload/v2/"+strings.Repeat("0", 40)+"/0", "x").Expect(404, "the session is unknown")
	s.Ask("", "PUT", strings.TrimSuffix(s.planOf("tea", m), "0")+"1", "x").Expect(404, "the session is unknown")
	s.Ask("", "PUT", s.planOf("tries", m), m.content).Expect(200)
	if s.has("tea", 1) || !s.has("tea-try", 1) {
		t.Error("the file of a try build is in the wrong project")
	}
	for body, want := range map[string]string{
		"{": "malformed JSON", `{"files":[{"key":"a"}]}`: "malformed JSON", `{}`: "malformed JSON",
		`{"files":[` + strings.Repeat(`{},`, 1024) + `{}]}`: "too many files",
	} {
		s.Ask("tea", "POST", "/upload/v2/", body).Expect(400, want)
	}
	sum := strings.Repeat("a", 32)
	s.Ask("tea", "POST", "/upload/v2/", `{"files":[{"key":"../a/b","size":1,"md5_hash":"`+sum+`"},{"key":"a/AB/a.sym","size":1,"md5_hash":"A"}]}`).
		Expect(201, `"msg":"invalid key"`, `"msg":"invalid MD5 hex digest"`)
	s.Ask("reader", "POST", "/upload/v2/", `{"files":[]}`).Expect(403, "Forbidden")
}

func TestADamagedSessionIsUnknown(t *testing.T) {
	s := serve(t, store.Config{})
	m := symMember("tea.so", 1)
	at := s.planOf("tea", m)
	keys, _, err := s.Bucket.List(t.Context(), "chunk/", "", 10)
	if err != nil || len(keys) != 1 {
		t.Fatalf("the sessions are %q, %v", keys, err)
	}
	in, _, err := s.Bucket.Get(t.Context(), keys[0], 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil || !bytes.Contains(text, []byte("tea.so")) {
		t.Fatalf("the session is %q, %v", text, err)
	}
	damaged := bytes.ReplaceAll(text, []byte("tea.so"), []byte("cup.so"))
	if _, err := s.Bucket.Put(t.Context(), keys[0], bytes.NewReader(damaged), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	s.Ask("", "PUT", at, packed(m.content)).Expect(404, "the session is unknown")
}

func TestSessionsEndWithTheirToken(t *testing.T) {
	s := serve(t, store.Config{})
	m := symMember("tea.so", 1)
	grants["gone"] = &token.Grant{ID: "t9", Rights: []token.Right{token.Upload}, Projects: []string{"tea"}} // not in the ring
	defer delete(grants, "gone")
	s.Ask("", "PUT", s.planOf("gone", m), packed(m.content)).Expect(403, "revoked")
	if s.has("tea", 1) {
		t.Error("the file is found")
	}
}
