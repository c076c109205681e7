package difs_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/apitest"
	"symbolon/internal/bucket"
)

func TestFilesAreReadAndDeletedByTheirID(t *testing.T) {
	s := serve(t)
	content := apitest.SymFile("tea.so", 1)
	f := s.upload("tea", assemblePath, "tea.so", content)
	at := dsymsPath + "?id=" + url.QueryEscape(f.ID)
	got := s.Ask("reader", "GET", at, "")
	got.Expect(200, content)
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "Content-Length": fmt.Sprint(len(content)),
		"Content-Disposition": `attachment; filename=` + f.DebugID + ".sym",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
	part := s.Ask("reader", "GET", at, "", "Range", "bytes=7-11")
	if part.Status != 206 || part.Body != content[7:12] {
		t.Errorf("a range: got %d %q, want 206 %q", part.Status, part.Body, content[7:12])
	}
	if same := s.Ask("reader", "GET", at, "", "If-None-Match", got.Header.Get("ETag")); same.Status != 304 {
		t.Errorf("got %d, want 304 for the same tag", same.Status)
	}
	if head := s.Ask("reader", "HEAD", at, ""); head.Status != 200 || head.Body != "" || head.Header.Get("Content-Length") != fmt.Sprint(len(content)) {
		t.Errorf("HEAD: got %d %q", head.Status, head.Body)
	}
	s.Ask("tea", "DELETE", at, "").Expect(204)
	s.Ask("tea", "GET", at, "").Expect(404)
	s.Ask("tea", "POST", assemblePath, "{"+order("x", content, nil)+"}").Expect(200, `"state":"not_found"`)
	if list := s.list("tea", ""); len(list) != 0 {
		t.Errorf("the list still has %+v", list)
	}
	s.upload("tea", assemblePath, "tea.so", content)
}

// The file that stays may rely on bytes that a collection has marked.
func TestDeletionOfAFileKeepsTheOthers(t *testing.T) {
	s := serve(t)
	one, two := apitest.SymFile("a.so", 1), apitest.SymFile("b.so", 2)
	s.send("tea", one, two).Expect(200)
	s.Ask("tea", "POST", assemblePath, "{"+order("a.so", one, []string{one})+","+order("b.so", two, []string{two})+"}").Expect(200)
	before, err := s.Store.List(t.Context(), []string{"tea"}, "", 10)
	if err != nil || len(before) != 1 {
		t.Fatalf("got %v, %v, want one upload", before, err)
	}
	for i := range before[0].Files {
		mark := before[0].Files[i].Stored().DeadKey()
		if _, err := s.Bucket.Put(t.Context(), mark, strings.NewReader("{}"), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	s.later.Add(int64(time.Hour))
	s.Ask("tea", "DELETE", dsymsPath+"?id="+s.list("tea", "?query=a.so")[0].ID, "").Expect(204)
	got := s.list("tea", "")
	if len(got) != 1 || got[0].SHA1 != sumOf(two) {
		t.Fatalf("the list has %+v, want the other file", got)
	}
	s.Ask("reader", "GET", dsymsPath+"?id="+got[0].ID, "").Expect(200, two)
	if after, err := s.Store.List(t.Context(), []string{"tea"}, "", 10); err != nil || !after[0].Time.Equal(before[0].Time) {
		t.Errorf("got %+v, %v, want the time %v: rules of retention count from it", after, err, before[0].Time)
	}
}

var nextPage = regexp.MustCompile(`rel="next"; results="(\w+)"; cursor="([^"]*)"`)

func TestListHasAllFilesOnPagesNewestFirst(t *testing.T) {
	s := serve(t)
	const files = 45
	for i := range files {
		s.upload("tea", assemblePath, fmt.Sprintf("lib%02d.so", i), apitest.SymFile(fmt.Sprintf("lib%02d.so", i), i%10))
	}
	names, sizes := s.pages()
	if sizes != "20 20 5" {
		t.Errorf("got pages of %s, want 20 20 5", sizes)
	}
	for i, name := range names {
		if want := fmt.Sprintf("lib%02d.so", files-1-i); name != want {
			t.Fatalf("file %d is %s, want %s", i, name, want)
		}
	}
}

// pages returns the names of all files in the list, and the sizes of its pages.
func (s *server) pages() (names []string, sizes string) {
	s.t.Helper()
	for cursor, more := "", "true"; more == "true"; {
		got := s.Ask("reader", "GET", dsymsPath+"?cursor="+url.QueryEscape(cursor), "")
		list := s.list("reader", "?cursor="+url.QueryEscape(cursor))
		for _, f := range list {
			names = append(names, f.ObjectName)
		}
		sizes += fmt.Sprintf(" %d", len(list))
		link := nextPage.FindStringSubmatch(got.Header.Get("Link"))
		if link == nil {
			s.t.Fatalf("Link is %q", got.Header.Get("Link"))
		}
		more, cursor = link[1], link[2]
	}
	return names, sizes[1:]
}

func TestFilesOfOneUploadAreListedOnPages(t *testing.T) {
	s := serve(t)
	var chunks, orders []string
	for i := range 25 {
		name := fmt.Sprintf("lib%02d.so", i)
		text := apitest.SymFile(name, i%10)
		chunks, orders = append(chunks, text), append(orders, order(name, text, []string{text}))
	}
	s.upload("tea", assemblePath, "first.so", apitest.SymFile("first.so", 1))
	s.send("tea", chunks...).Expect(200)
	s.Ask("tea", "POST", assemblePath, "{"+strings.Join(orders, ",")+"}").Expect(200, `"state":"ok"`)
	names, sizes := s.pages()
	if sizes != "20 6" || names[25] != "first.so" {
		t.Errorf("got pages of %s files with %s at the end, want 20 and 6 with first.so", sizes, names[len(names)-1])
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 26 {
		t.Errorf("got %q, want each file once", names)
	}
}

func TestListsAreFiltered(t *testing.T) {
	s := serve(t)
	tea := s.upload("tea", assemblePath, "libtea.so", apitest.SymFile("libtea.so", 1))
	s.upload("tea", assemblePath, "libpot.so", apitest.SymFile("libpot.so", 2))
	for query, want := range map[string]int{
		"":                                   2,
		"?query=libtea":                      1,
		"?query=LIBTEA":                      1,
		"?query=x86_64":                      2,
		"?query=" + tea.DebugID:              1,
		"?query=" + tea.DebugID[:12]:         2,
		"?query=nothing":                     0,
		"?file_formats=breakpad":             2,
		"?file_formats=elf":                  0,
		"?file_formats=elf&file_formats=pdb": 0,
		"?debug_id=" + tea.DebugID:           1,
		"?debug_id=" + tea.DebugID + "&code_id=00":                1,
		"?code_id=0123456789":                                     0,
		"?debug_id=00000000-0000-0000-0000-000000000001&code_id=": 0,
	} {
		if got := s.list("reader", query); len(got) != want {
			t.Errorf("%s: got %d files, want %d", query, len(got), want)
		}
	}
}

func TestOldClientsUploadAZip(t *testing.T) {
	s := serve(t)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, content := range map[string]string{
		"tea.so.sym": apitest.SymFile("tea.so", 1), "pot.so.sym": apitest.SymFile("pot.so", 2), "Info.plist": "a text",
		"proguard/9686765a-f0ff-50c1-9ef0-8fbbd869c608.txt": "a -> b:\n",
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, content)
	}
	_ = z.Close()
	sum := sumOf(apitest.SymFile("tea.so", 1))
	s.Ask("tea", "GET", dsymsPath+"unknown/?checksums="+sum, "").Expect(200, `{"missing":["`+sum+`"]}`)
	body, kind := zipForm(t, packed.Bytes())
	s.Ask("tea", "POST", dsymsPath, body, "Content-Type", kind).Expect(201, `[{"id":`, `"symbolType":"breakpad"`, `"symbolType":"proguard"`)
	s.Ask("tea", "GET", dsymsPath+"unknown/?checksums="+sum, "").Expect(200, `{"missing":[]}`)
	list := s.list("tea", "")
	if len(list) != 3 {
		t.Errorf("got %+v, want the three files", list)
	}
	s.Ask("tea", "DELETE", dsymsPath+"?id="+list[0].ID, "").Expect(204)
	if left := s.list("tea", ""); len(left) != 2 || left[0].SHA1 == list[0].SHA1 || left[1].SHA1 == list[0].SHA1 {
		t.Errorf("after one was deleted, got %+v, want the two others", left)
	}
	s.Ask("tea", "POST", dsymsPath+"associate/", "{}").Expect(200, `{"associatedDsymFiles":[]}`)
	s.Ask("tea", "POST", "/api/0/projects/acme/tea/reprocessing/", "").Expect(200, `{}`)
}

func TestZipWithoutDebugFilesIsRefused(t *testing.T) {
	s := serve(t)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("../../etc/notes.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, "a text")
	_ = z.Close()
	for name, c := range map[string]struct{ content, text string }{
		"a text in a zip": {packed.String(), "etc/notes.txt"},
		"not a zip":       {"PK\x03\x04 and more", "zip"},
		"damaged":         {strings.Replace(packed.String(), "a text", "a test", 1), ""},
		"empty":           {"", ""},
	} {
		body, kind := zipForm(t, []byte(c.content))
		if got := s.Ask("tea", "POST", dsymsPath, body, "Content-Type", kind); got.Status != 400 || !strings.Contains(got.Body, c.text) {
			t.Errorf("%s: got %d %s", name, got.Status, got.Body)
		}
	}
	body, kind := zipForm(t, []byte(bomb(t)))
	s.Ask("tea", "POST", dsymsPath, body, "Content-Type", kind).Expect(413, "bomb.so.sym")
	if list := s.list("tea", ""); len(list) != 0 {
		t.Errorf("got %+v, want nothing", list)
	}
}

// bomb is a zip with a symbol file that decodes to 1,000 times its size.
func bomb(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("bomb.so.sym")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, apitest.SymFile("bomb.so", 1))
	for range 100 {
		_, _ = w.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	return packed.String()
}

func zipForm(t *testing.T, content []byte) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", "b5c8ec2c-0d4f-4b8e-a3a9-7a7e6d1d3f11")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(content)
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}
