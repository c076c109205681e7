package tecken_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/apitest"
	"symbolon/internal/api/tecken"
	"symbolon/internal/store"
)

func TestFilesOfAZipAreStoredTogether(t *testing.T) {
	s := serve(t, store.Config{})
	members := []member{symMember("tea.so", 1), symMember("cup.so", 2), {"tea-symbols.txt", "tea.so.sym\n"}, {"x/.DS_Store", "?"}}
	got := s.send("tea", "symbols.zip", zipOf(members...))
	got.Expect(201, `"upload":{"id":"tea.`, fmt.Sprintf(`"size":%d,`, len(zipOf(members...))), `"filename":"symbols.zip"`, `"bucket":"tea"`,
		`"download_url":null,"try_symbols":false,"redirect_urls":[],`, `"user":"ci of tea","skipped_keys":[],"ignored_keys":["tea-symbols.txt","x/.DS_Store"]`)
	if !s.has("tea", 1) || !s.has("tea", 2) {
		t.Error("the files are not found")
	}
	again := s.send("tea", "symbols.zip", zipOf(members[0], symMember("pot.so", 3)))
	again.Expect(201, `"skipped_keys":["`+members[0].name+`"]`)
	s.send("coffee", "symbols.zip", zipOf(members...)).Expect(201, `"bucket":"coffee"`, `"skipped_keys":[]`)
	s.send("tea", "symbols.zip", zipOf(members[0]), "try", "1").Expect(201, `"skipped_keys":[]`)
}

func TestZipThatIsSentAgainIsTheSameUpload(t *testing.T) {
	s := serve(t, store.Config{})
	one, two := symMember("tea.so", 1), symMember("cup.so", 2)
	first := s.upload("tea", one, two, one)
	s.send("tea", "symbols.zip", zipOf(two, one)).
		Expect(201, `"id":"`+first+`"`, `"skipped_keys":["`+two.name+`","`+one.name+`"]`)
	seen := map[string]string{first: "the first one"}
	for _, c := range []struct {
		name string
		send func() string
	}{
		{"one file less", func() string { return s.upload("tea", one) }},
		{"another name", func() string { return s.upload("tea", two, member{"x/" + one.name, one.content}) }},
		{"after a deletion", func() string {
			if err := s.Store.Delete(t.Context(), first, "test", ""); err != nil {
				t.Fatal(err)
			}
			return s.upload("tea", one, two)
		}},
	} {
		id := c.send()
		if was := seen[id]; was != "" {
			t.Errorf("%s: it is the same upload as %s", c.name, was)
		}
		seen[id] = c.name
	}
}

func TestUploadsOfTryBuildsHaveTheirOwnProject(t *testing.T) {
	for _, c := range []struct {
		name, secret string
		fields       []string
		digit        int
	}{
		{"a field of the form", "tea", []string{"try", "1"}, 1},
		{"a token for try builds", "tries", nil, 2},
		{"an empty field does not widen the token", "tries", []string{"try", ""}, 3},
	} {
		s := serve(t, store.Config{})
		s.send(c.secret, "symbols.zip", zipOf(symMember("tea.so", c.digit)), c.fields...).Expect(201, `"try_symbols":true`, `"bucket":"tea-try"`)
		if s.has("tea", c.digit) || !s.has("tea-try", c.digit) {
			t.Errorf("%s: the file is in the wrong project", c.name)
		}
	}
}

func TestClientsWithoutTheRightAreRefused(t *testing.T) {
	s := serve(t, store.Config{})
	for secret, want := range map[string]string{
		"": `{"error":"This requires an Auth-Token to authenticate the request"}`, "wrong": `{"error":"API Token not matched`,
		"local":  `{"error":"This requires an Auth-Token to authenticate the request"}`,
		"reader": `{"error":"Forbidden`, "two": `several projects (tea, coffee)`,
	} {
		s.send(secret, "symbols.zip", zipOf(symMember("tea.so", 1))).Expect(403, want)
	}
	s.send("long", "symbols.zip", zipOf(symMember("tea.so", 1))).Expect(400, "invalid project", "try builds")
	got := s.get("tea", "/upload/")
	got.Expect(405, `{"error":"Method Not Allowed (GET): /upload/"}`)
	if allow := got.Header.Get("Allow"); allow != "POST, OPTIONS" {
		t.Errorf("Allow is %q", allow)
	}
}

func TestFilesThatAreNotInAFormAreRefusedWithAdvice(t *testing.T) {
	s := serve(t, store.Config{})
	for body, want := range map[string]string{
		zipOf(symMember("tea.so", 1)) + ";": "Must be multipart form data", strings.Repeat("PK", 1<<20): "must be sent as multipart form data",
	} {
		s.Ask("tea", "POST", "/upload/", body, "Content-Type", "application/x-www-form-urlencoded").Expect(400, want) // curl's default
	}
}

// The texts are those of Tecken where it has the error.
func TestRefusedUploadsNameTheReasonAndChangeNothing(t *testing.T) {
	good := symMember("tea.so", 1)
	many := []byte(zipOf(good))
	binary.LittleEndian.PutUint32(many[len(many)-22+12:], 1<<32-1) // bytes of the list
	for _, c := range []struct{ name, field, content, want string }{
		{"another suffix", "symbols.rar", "x", `Unrecognized archive file extension \".rar\"`},
		{"a long name", strings.Repeat("a", 300) + ".zip", "x", "Unrecognized archive file extension"},
		{"not a zip", "symbols.zip", "Rar!\x1a\x07", "File is not a zip file"},
		{"no bytes", "symbols.zip", "", "File is not a zip file"},
		{"an empty zip", "symbols.zip", zipOf(), "the zip has no files"},
		{"only ignored files", "symbols.zip", zipOf(member{"a-symbols.txt", "a"}), "only files that are ignored"},
		{"a file without an id", "symbols.zip", zipOf(good, member{"a/AB/a.sym", "a text"}), "a/AB/a.sym"},
		{"a lying path", "symbols.zip", zipOf(good, member{"cup.so/" + apitest.SymID(3) + "/cup.so.sym", apitest.SymFile("cup.so", 2)}),
			"the identifier " + apitest.SymID(3) + " by its path and " + apitest.SymID(2)},
		{"a path above", "symbols.zip", zipOf(good, member{"../../etc/" + apitest.SymID(1) + "/x.sym", apitest.SymFile("x", 1)}), "Unrecognized file pattern"},
		{"an absolute path", "symbols.zip", zipOf(good, member{"/etc/x.sym", apitest.SymFile("x", 1)}), "Unrecognized file pattern"},
		{"a name twice", "symbols.zip", zipOf(good, member{good.name, good.content + "PUBLIC 2000 0 x\n"}), "two files both called " + good.name},
		{"a damaged member", "symbols.zip", flipped(zipOf(good), len("PK")+28+len(good.name)+20), good.name},
		{"2^32 bytes of a list of members", "symbols.zip", string(many), "more than 10000 files"},
		{"archives in archives in archives", "symbols.zip", zipOf(good, member{"a.zip", zipOf(member{"b.zip", zipOf(good)})}), "nested in 2 others"},
		{"cut off", "symbols.zip", zipOf(good)[:100], "cannot read the archive: the zip is cut off"},
		{"a text", "symbols.zip", zipOf(good, member{"README.txt", "hello"}), "README.txt: unknown format: the file begins with hello; leave it out"},
	} {
		s := serve(t, store.Config{})
		got := s.send("tea", c.field, c.content)
		if got.Status != 400 || !strings.Contains(strings.ReplaceAll(got.Body, `\"`, ""), strings.ReplaceAll(c.want, `\"`, "")) {
			t.Errorf("%s: got %d %s, want 400 with %q", c.name, got.Status, got.Body, c.want)
		}
		if s.has("tea", 1) {
			t.Errorf("%s: a file of the upload is found", c.name)
		}
	}
}

// flipped returns a text with a changed byte.
func flipped(text string, at int) string {
	b := []byte(text)
	b[at] ^= 0x55
	return string(b)
}

func TestUploadsAboveALimitAreRefused(t *testing.T) {
	s := serve(t, store.Config{MaxFile: 200, MaxRequest: 1 << 10})
	long := symMember("tea.so", 1)
	long.content += strings.Repeat("PUBLIC 2000 0 x\n", 20)
	s.send("tea", "symbols.zip", zipOf(long)).Expect(413, `{"error":"`+long.name+": the file has more than 200, the limit uploads.max_file")
	s.send("tea", "symbols.zip", strings.Repeat("x", 2<<20)).Expect(413, "the limit of a body is")
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 100<<20))
	_ = z.Close()
	s = serve(t, store.Config{})
	s.send("tea", "symbols.zip", zipOf(symMember("tea.so", 1), member{"a/AB/a.sym.gz", bomb.String()})).
		Expect(413, `cannot unpack \"a/AB/a.sym\"`, "send its files in several archives")
	if s.has("tea", 1) {
		t.Error("a file of the bomb's upload is found")
	}
}

func TestCutAndSlowBodiesChangeNothing(t *testing.T) {
	body := "--x\r\nContent-Disposition: form-data; name=\"symbols.zip\"; filename=\"f\"\r\n\r\n" + zipOf(symMember("tea.so", 1))
	head := "POST /upload/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tea\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n"
	for _, c := range []struct {
		name    string
		isCut   bool
		timeout time.Duration
		want    string
	}{{"half a body", true, time.Minute, "400"}, {"a client that stalls", false, 50 * time.Millisecond, "408"}} {
		s := serveWith(t, api.Config{BodyTimeout: c.timeout}, tecken.Config{}, store.Config{})
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, head+body)
		if c.isCut {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		got, err := io.ReadAll(conn)
		if !strings.HasPrefix(string(got), "HTTP/1.1 "+c.want) && !(c.isCut && len(got) == 0) {
			t.Errorf("%s: got %.200q %v, want %s", c.name, got, err, c.want)
		}
		_ = conn.Close()
		if s.has("tea", 1) {
			t.Errorf("%s: the file is found", c.name)
		}
	}
}
