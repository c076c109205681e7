package difs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/api/apitest"
	"symbolon/internal/bucket"
)

// The exchange that sentry-cli 2.58.6 and 3.8.0 were recorded with.
func TestUploadFollowsTheExchangeOfTheClient(t *testing.T) {
	s := serve(t)
	content := apitest.SymFile("tea.so", 1) + strings.Repeat("PUBLIC 2000 0 leaf\n", 900)
	chunks := chunksOf(content, 5000)
	options := s.Ask("tea", "GET", chunkPath, "")
	options.Expect(200, `{"url":"organizations/acme/chunk-upload/","chunkSize":8388608,"chunksPerRequest":64,"maxFileSize":1073741824,`+
		`"maxRequestSize":33554432,"concurrency":8,"hashAlgorithm":"sha1","compression":["gzip","zstd"],"accept":["debug_files",`)
	body := "{" + order("tea.so.sym", content, chunks) + "}"

	first := s.Ask("tea", "POST", assemblePath, body)
	var sums []string
	for _, c := range chunks {
		sums = append(sums, `"`+sumOf(c)+`"`)
	}
	want := fmt.Sprintf(`{"%s":{"state":"not_found","missingChunks":[%s],"detail":null}}`, sumOf(content), strings.Join(sums, ","))
	if first.Body != want || first.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %s %s, want %s", first.Header.Get("Content-Type"), first.Body, want)
	}
	s.send("tea", chunks[0], chunks[2]).Expect(200)
	second := s.Ask("tea", "POST", assemblePath, body)
	second.Expect(200, `"missingChunks":[`+sums[1]+","+sums[3]+"]")
	if sent := s.send("tea", chunks[1], chunks[3]); sent.Status != 200 || sent.Body != "" {
		t.Fatalf("got %d %q, want 200 without a body", sent.Status, sent.Body)
	}
	last := s.Ask("tea", "POST", assemblePath, body)
	last.Expect(200, `"state":"ok","missingChunks":[],"detail":null`, `"uuid":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1"`,
		`"debugId":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1"`, `"codeId":null`, `"cpuName":"x86_64"`, `"objectName":"tea.so.sym"`,
		`"symbolType":"breakpad"`, `"headers":{"Content-Type":"text/x-breakpad"}`, fmt.Sprintf(`"size":%d`, len(content)), `"features":["symtab","debug"]`)
	again := s.Ask("tea", "POST", assemblePath, body)
	if again.Body != last.Body {
		t.Errorf("a second upload: got %s, want %s", again.Body, last.Body)
	}
}

func TestChunksMayHaveEachCoding(t *testing.T) {
	s := serve(t)
	for i, field := range []string{"file", "file_gzip", "file_zstd"} {
		content := apitest.SymFile("tea.so", i+1) + strings.Repeat("PUBLIC 2000 0 leaf\n", 200_000)
		chunks := chunksOf(content, 2_000_000)
		body, kind := form(t, field, chunks...)
		s.Ask("tea", "POST", chunkPath, body, "Content-Type", kind).Expect(200)
		s.Ask("tea", "POST", assemblePath, "{"+order("tea.so", content, chunks)+"}").Expect(200, `"state":"ok"`)
	}
}

func TestAFirstAnswerIsNeverCreated(t *testing.T) {
	s := serve(t)
	content := apitest.SymFile("tea.so", 1)
	s.send("tea", content).Expect(200)
	s.Ask("tea", "POST", assemblePath, "{"+order("tea.so", content, []string{content})+"}").Expect(200, `"state":"ok"`)
}

func TestChunksThatTwoFilesShareAreMissingInBoth(t *testing.T) {
	s := serve(t)
	common := strings.Repeat("PUBLIC 1000 0 x\n", 20)
	one, two := apitest.SymFile("a.so", 1)+common, apitest.SymFile("b.so", 2)+common
	got := s.Ask("tea", "POST", assemblePath, "{"+order("a", one, []string{apitest.SymFile("a.so", 1), common})+","+
		order("b", two, []string{apitest.SymFile("b.so", 2), common})+"}")
	if n := strings.Count(got.Body, sumOf(common)); n != 2 {
		t.Errorf("got %s: the chunk %s is there %d times, want 2", got.Body, sumOf(common), n)
	}
}

func TestWrongSumsAreErrorsOfTheirFile(t *testing.T) {
	s := serve(t)
	good, bad := apitest.SymFile("a.so", 1), apitest.SymFile("b.so", 2)
	s.send("tea", good, bad).Expect(200)
	body := "{" + order("a", good, []string{good}) + "," + order("b", "other", []string{bad}) + "}"
	for range 2 { // the second answer is a remembered one
		s.Ask("tea", "POST", assemblePath, body).Expect(200, `"state":"ok"`, `"state":"error","missingChunks":[],"detail":"Reported checksum mismatch`)
	}
	wrong, kind := form(t, "file", "content")
	s.Ask("tea", "POST", chunkPath, strings.Replace(wrong, "content\r\n", "contents\r\n", 1), "Content-Type", kind).Expect(400, `{"detail":`, sumOf("content"))
	if got := s.list("tea", ""); len(got) != 1 {
		t.Errorf("got %d files, want that one with the right sum", len(got))
	}
}

func TestFilesOfOneIDAndNameAreAllKept(t *testing.T) {
	s := serve(t)
	one := s.upload("tea", assemblePath, "tea.so", apitest.SymFile("tea.so", 1))
	two := s.upload("tea", assemblePath, "tea.so", apitest.SymFile("tea.so", 1)+"PUBLIC 3000 0 more\n")
	got := s.list("tea", "?debug_id="+one.DebugID)
	if len(got) != 2 || one.DebugID != two.DebugID || one.ID == two.ID {
		t.Errorf("got %+v, want both files", got)
	}
}

func TestOneProjectDoesNotLearnWhatAnotherHas(t *testing.T) {
	s := serve(t)
	content := apitest.SymFile("tea.so", 1)
	secret := s.upload("tea", assemblePath, "tea.so", content)
	others := strings.ReplaceAll(assemblePath, "tea", "coffee")
	s.Ask("coffee", "POST", others, "{"+order("x", content, []string{content})+"}").Expect(200, `"state":"not_found","missingChunks":["`+sumOf(content))
	s.Ask("coffee", "POST", others, "{"+order("x", content, nil)+"}").Expect(200, `"state":"not_found","missingChunks":[]`)
	coffee := strings.ReplaceAll(dsymsPath, "tea", "coffee")
	s.Ask("coffee", "GET", coffee+"?id="+secret.ID, "").Expect(404)
	s.Ask("coffee", "GET", coffee+"?debug_id="+secret.DebugID, "").Expect(200, `[]`)
	s.Ask("coffee", "GET", coffee+"unknown/?checksums="+sumOf(content), "").Expect(200, `{"missing":["`+sumOf(content)+`"]}`)
	s.Ask("coffee", "GET", dsymsPath, "").Expect(404, "does not exist, or the token may not read it")
	s.Ask("coffee", "POST", assemblePath, "{}").Expect(403, `{"detail":`, "tea")
}

func TestFilesOfKindsThatAreNotReadAreKept(t *testing.T) {
	s := serve(t)
	const name = "/proguard/9686765a-f0ff-50c1-9ef0-8fbbd869c608.txt"
	got := s.upload("tea", assemblePath, name, "com.example.Tea -> a.a:\n    1:3:void pour():10:12 -> b\n")
	if got.SymbolType != "proguard" || got.DebugID != "9686765a-f0ff-50c1-9ef0-8fbbd869c608" || got.Data.Unused == "" {
		t.Errorf("got %+v, want an unused proguard file", got)
	}
	if list := s.list("tea", "?file_formats=proguard"); len(list) != 1 || list[0].ID != got.ID {
		t.Errorf("the list has %+v, want the file", list)
	}
	if read := s.Ask("tea", "GET", dsymsPath+"?id="+got.ID, ""); !strings.HasPrefix(read.Body, "com.example.Tea") {
		t.Errorf("the file is %q", read.Body)
	}
}

func TestMapsWithoutAnIDAreFoundByThatOfTheRequest(t *testing.T) {
	s := serve(t)
	const id = "2d7c1fdd-8d0a-3b0c-9a8e-4c8cc0a3f1ab"
	for content, want := range map[string]string{
		"BCSymbolMap Version: 2.0\n_pour\n":       "bcsymbolmap",
		`{"__debug-id__": "` + id + `", "a": {}}`: "il2cpp",
		`["a", "b"]`: "dartsymbolmap",
	} {
		s.send("tea", content).Expect(200)
		body := strings.Replace(order("x", content, []string{content}), "null", `"`+id+`"`, 1)
		s.Ask("tea", "POST", assemblePath, "{"+body+"}").Expect(200, `"state":"ok"`, `"symbolType":"`+want+`"`, `"debugId":"`+id+`"`)
	}
	if got := s.list("tea", "?debug_id="+id); len(got) != 3 {
		t.Errorf("got %+v, want the three files", got)
	}
	lying := apitest.SymFile("tea.so", 1)
	s.send("tea", lying).Expect(200)
	s.Ask("tea", "POST", assemblePath, strings.Replace("{"+order("x", lying, []string{lying})+"}", "null", `"`+id+`"`, 1)).
		Expect(200, `"debugId":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1"`)
}

func TestArtifactBundlesAreKept(t *testing.T) {
	s := serve(t)
	const path = "/api/0/organizations/acme/artifactbundle/assemble/"
	content := "SYSB a bundle"
	body := func(project string) string {
		return fmt.Sprintf(`{"checksum":%q,"chunks":[%q],"projects":[%q],"version":null,"dist":null}`, sumOf(content), sumOf(content), project)
	}
	s.Ask("tea", "POST", path, body("tea")).Expect(200, `{"state":"not_found","missingChunks":["`+sumOf(content)+`"]`)
	s.send("tea", content).Expect(200)
	for range 2 {
		s.Ask("tea", "POST", path, body("tea")).Expect(200, `{"state":"ok","missingChunks":[],"detail":"kept as it is`)
	}
	if got := s.uploads(); !slices.Equal(got, []int{1}) {
		t.Errorf("got uploads with %v files, want one with the bundle", got)
	}
	if list := s.list("tea", ""); len(list) != 0 {
		t.Errorf("a Symbolicator gets %+v, of which it does not know the type", list)
	}
	s.Ask("tea", "POST", path, body("coffee")).Expect(403, "coffee")
	s.Ask("tea", "POST", path, body("Coffee")).Expect(400, "Coffee")
	s.Ask("tea", "POST", path, "[]").Expect(400, "must be an object")
	s.Ask("tea", "POST", path, `{"chunks":[]}`).Expect(400, "checksum")
}

// uploads returns how many files the uploads of the project have, newest first.
func (s *server) uploads() (files []int) {
	s.t.Helper()
	list, err := s.Store.List(s.t.Context(), []string{"tea"}, "", 10)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, u := range list {
		files = append(files, len(u.Files))
	}
	return files
}

func TestFilesOfARequestAreOneUploadThatIsRenewed(t *testing.T) {
	s := serve(t)
	one, two, wrong := apitest.SymFile("a.so", 1), apitest.SymFile("b.so", 2), "not a debug file"
	s.send("tea", one, two, wrong).Expect(200)
	body := "{" + order("a", one, []string{one}) + "," + order("b", two, []string{two}) + "," + order("c", wrong, []string{wrong}) + "}"
	again := func(query string, want ...int) {
		t.Helper()
		s.Ask("tea", "POST", assemblePath+query, body).Expect(200, `"state":"ok"`)
		if got := s.uploads(); !slices.Equal(got, want) {
			t.Errorf("%q: got uploads with %v files, want %v", query, got, want)
		}
	}
	again("", 2)
	again("", 2)
	again("?label=version=1", 2, 2)
	again("?label=version=1", 2, 2)
	s.later.Add(int64(25 * time.Hour))
	again("?label=version=1", 2, 2, 2)
	if list := s.list("tea", ""); len(list) != 6 {
		t.Errorf("the list has %d files, want those of each upload", len(list))
	}
}

func TestConcurrentRequestsForTheSameFilesMakeOneUpload(t *testing.T) {
	s := serve(t)
	var chunks, orders []string
	for i := range 20 {
		content := apitest.SymFile(fmt.Sprintf("lib%d.so", i), i%10)
		chunks, orders = append(chunks, content), append(orders, order("x", content, []string{content}))
	}
	s.send("tea", chunks...).Expect(200)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got := s.Ask("tea", "POST", assemblePath, "{"+strings.Join(orders, ",")+"}")
			if n := strings.Count(got.Body, `"state":"ok"`); n != len(orders) {
				t.Errorf("got %d files in %.300s, want %d", n, got.Body, len(orders))
			}
		})
	}
	all.Wait()
	total := 0
	for _, n := range s.uploads() {
		total += n
	}
	if total != len(orders) {
		t.Errorf("the uploads have %d files, want %d", total, len(orders))
	}
}

func TestDamagedChunkIsAskedForAgain(t *testing.T) {
	s := serve(t)
	content := apitest.SymFile("tea.so", 1)
	s.send("tea", content).Expect(200)
	keys, _, err := s.Bucket.List(t.Context(), "chunk/", "", 10)
	if err != nil || len(keys) != 1 {
		t.Fatalf("the pieces are %q, %v", keys, err)
	}
	if _, err := s.Bucket.Put(t.Context(), keys[0], strings.NewReader("damaged"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	s.Ask("tea", "POST", assemblePath, "{"+order("tea.so", content, []string{content})+"}").
		Expect(200, `"state":"not_found","missingChunks":["`+sumOf(content)+`"]`)
	s.upload("tea", assemblePath, "tea.so", content)
}

func TestRefusalsTellTheReason(t *testing.T) {
	s := serve(t)
	zero := strings.Repeat("\x00", 8<<20+1)
	text := "a text, not a debug file\n"
	s.send("tea", text).Expect(200)
	wrong := order("readme.txt", text, []string{text})
	notGzip, kind := form(t, "file", "x")
	notGzip = strings.Replace(notGzip, `name="file"`, `name="file_gzip"`, 1)
	notZstd := strings.Replace(notGzip, "file_gzip", "file_zstd", 1)
	bomb, bombKind := form(t, "file_zstd", zero)
	for name, c := range map[string]struct {
		got    apitest.Answer
		status int
		text   string
	}{
		"no token":              {s.Ask("", "GET", chunkPath, ""), 401, "SENTRY_AUTH_TOKEN"},
		"no right":              {s.Ask("reader", "GET", chunkPath, ""), 403, `lacks the right`},
		"a wrong project":       {s.Ask("tea", "POST", "/api/0/projects/acme/Te%20a/files/difs/assemble/", "{}"), 404, "invalid project"},
		"an unknown path":       {s.Ask("tea", "POST", "/api/0/organizations/acme/releases/", "{}"), 404, `{"detail":"404`},
		"a wrong method":        {s.Ask("tea", "PUT", chunkPath, ""), 405, `{"detail":"405`},
		"a large chunk":         {s.send("tea", zero), 413, "must have at most 8MiB"},
		"a large zstd chunk":    {s.Ask("tea", "POST", chunkPath, bomb, "Content-Type", bombKind), 413, "must have at most 8MiB"},
		"too many chunks":       {s.send("tea", strings.Split(strings.Repeat("x", 65), "")...), 413, "too many chunks"},
		"damaged gzip":          {s.Ask("tea", "POST", chunkPath, notGzip, "Content-Type", kind), 400, "it is not gzip"},
		"damaged zstd":          {s.Ask("tea", "POST", chunkPath, notZstd, "Content-Type", kind), 400, "it is not zstd"},
		"an unknown field":      {s.Ask("tea", "POST", chunkPath, strings.Replace(notGzip, "file_gzip", "file_brotli", 1), "Content-Type", kind), 400, "file_gzip or file_zstd"},
		"no form":               {s.Ask("tea", "POST", chunkPath, "x"), 400, "multipart/form-data"},
		"not JSON":              {s.Ask("tea", "POST", assemblePath, "{"), 400, "invalid request: the object has no end"},
		"not an object":         {s.Ask("tea", "POST", assemblePath, "[]"), 400, "must be an object"},
		"a wrong key":           {s.Ask("tea", "POST", assemblePath, `{"x":{}}`), 400, "SHA-1"},
		"no chunks":             {s.Ask("tea", "POST", assemblePath, `{"`+sumOf("")+`":{"name":"x"}}`), 400, "with a name, and the list"},
		"a wrong chunk":         {s.Ask("tea", "POST", assemblePath, `{"`+sumOf("")+`":{"name":"x","chunks":["`+sumOf("")+`","y"]}}`), 400, "with a name, and the list"},
		"not a debug file":      {s.Ask("tea", "POST", assemblePath, "{"+wrong+"}"), 200, `"state":"error"`},
		"a wrong id":            {s.Ask("tea", "GET", dsymsPath+"?debug_id=tea", ""), 400, "invalid debug id"},
		"a wrong cursor":        {s.Ask("tea", "GET", dsymsPath+"?cursor=1:x:0", ""), 400, "invalid cursor"},
		"an unknown file":       {s.Ask("tea", "GET", dsymsPath+"?id=1", ""), 404, "no such file"},
		"an unknown file's end": {s.Ask("tea", "DELETE", dsymsPath+"?id=1", ""), 404, "no such file"},
		"no right to delete":    {s.Ask("forced", "DELETE", dsymsPath+"?id=1", ""), 403, `lacks the right`},
	} {
		if c.got.Status != c.status || !strings.Contains(c.got.Body, c.text) {
			t.Errorf("%s: got %d %.300s, want %d with %q", name, c.got.Status, c.got.Body, c.status, c.text)
		}
		var detail map[string]any
		if err := json.Unmarshal([]byte(c.got.Body), &detail); c.status != 200 && (err != nil || len(detail) != 1 || detail["detail"] == nil) {
			t.Errorf("%s: got %s, want one member detail", name, c.got.Body)
		}
	}
}

func TestLabelsAreThoseOfTheTokenFirst(t *testing.T) {
	s := serve(t)
	s.upload("forced", assemblePath+"?label=product=cup&label=version=1.2", "tea.so", apitest.SymFile("tea.so", 1))
	uploads, err := s.Store.List(t.Context(), []string{"tea"}, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(uploads[0].Labels); got != "map[product:pot version:1.2]" {
		t.Errorf("got %s, want those of the token before those of the request", got)
	}
	for _, label := range []string{"x", "=x", strings.Repeat("label=a&", 30)} {
		s.Ask("tea", "POST", assemblePath+"?label="+label, "{}").Expect(400, "label")
	}
}
