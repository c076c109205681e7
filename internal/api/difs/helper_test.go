package difs_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
	"symbolon/internal/api/apitest"
	"symbolon/internal/api/difs"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// grants are the tokens of the tests.
var grants = map[string]*token.Grant{
	"tea":    {ID: "t1", Name: "ci of tea", Rights: []token.Right{token.Upload, token.Delete}, Projects: []string{"tea"}},
	"coffee": {ID: "t2", Rights: []token.Right{token.Upload}, Projects: []string{"coffee"}},
	"reader": {ID: "t3", Rights: []token.Right{token.Read}, Projects: []string{"tea"}},
	"forced": {ID: "t4", Rights: []token.Right{token.Upload}, Projects: []string{"tea"}, Labels: map[string]string{"product": "pot"}},
	"":       {},
}

// server is a door on a real port, over an empty store.
type server struct {
	*apitest.Server
	t     *testing.T
	later atomic.Int64 // nanoseconds by which its clock is ahead
}

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{t: t}
	now := func() time.Time { return time.Now().Add(time.Duration(s.later.Load())) }
	s.Server = apitest.New(t, store.Config{}, grants, now)
	door := difs.New(store.Config{MaxFile: 1 << 30}, difs.Deps{Store: s.Store, Spool: s.Spool, Grant: s.Grant, Now: now, Log: s.Log})
	t.Cleanup(door.Close)
	s.Serve(api.Config{}, door.Routes())
	return s
}

func sumOf[T string | []byte](content T) string {
	sum := sha1.Sum([]byte(content))
	return hex.EncodeToString(sum[:])
}

// chunksOf cuts a file as clients do.
func chunksOf(content string, size int) (list []string) {
	for chunk := range slices.Chunk([]byte(content), size) {
		list = append(list, string(chunk))
	}
	return list
}

// sentry's paths in the tests.
const (
	chunkPath    = "/api/0/organizations/acme/chunk-upload/"
	assemblePath = "/api/0/projects/acme/tea/files/difs/assemble/"
	dsymsPath    = "/api/0/projects/acme/tea/files/dsyms/"
)

// order is an entry of a request to assemble files.
func order(name, content string, chunks []string) string {
	sums := []string{}
	for _, c := range chunks {
		sums = append(sums, sumOf(c))
	}
	text, err := json.Marshal(map[string]any{"name": name, "debug_id": nil, "chunks": sums})
	if err != nil {
		panic(err) // texts are always JSON
	}
	return fmt.Sprintf("%q:%s", sumOf(content), text)
}

// send uploads chunks in one request.
func (s *server) send(secret string, chunks ...string) apitest.Answer {
	s.t.Helper()
	body, kind := form(s.t, "file_gzip", chunks...)
	return s.Ask(secret, "POST", chunkPath, body, "Content-Type", kind)
}

// form is a form with chunks in fields of this name.
func form(t *testing.T, field string, chunks ...string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, c := range chunks {
		part, err := w.CreateFormFile(field, sumOf(c))
		if err != nil {
			t.Fatal(err)
		}
		var z io.WriteCloser = struct {
			io.Writer
			io.Closer
		}{part, io.NopCloser(nil)}
		switch field {
		case "file_gzip":
			z = gzip.NewWriter(part)
		case "file_zstd":
			if z, err = zstd.NewWriter(part, zstd.WithWindowSize(1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = io.WriteString(z, c)
		_ = z.Close()
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

// upload uploads a file, and returns its description.
func (s *server) upload(secret, path, name, content string) file {
	s.t.Helper()
	s.send(secret, content).Expect(200)
	got := s.Ask(secret, "POST", path, "{"+order(name, content, []string{content})+"}")
	got.Expect(200, `"state":"ok"`)
	states := map[string]struct{ DIF file }{}
	if err := json.Unmarshal([]byte(got.Body), &states); err != nil {
		s.t.Fatal(err)
	}
	return states[sumOf(content)].DIF
}

// file is the description of a file.
type file struct {
	ID, UUID, DebugID, CPUName, ObjectName, SymbolType, SHA1 string

	CodeID *string
	Size   int64
	Data   struct {
		Type     string
		Features []string
		Unused   string
	}
}

// list is the list of files for a query.
func (s *server) list(secret, query string) (files []file) {
	s.t.Helper()
	got := s.Ask(secret, "GET", dsymsPath+query, "")
	got.Expect(200)
	if err := json.Unmarshal([]byte(got.Body), &files); err != nil {
		s.t.Fatal(err)
	}
	return files
}
