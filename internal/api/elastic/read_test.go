package elastic_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/api/elastic"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
)

const mirrorPath = "/mB/d-/" + fileID + "/ranges"

// restless is a bucket in which another file takes the place of one after a number
// of looks at it.
type restless struct {
	bucket.Bucket
	instead func()
	after   atomic.Int32
}

func (b *restless) look(key string) {
	if !strings.HasSuffix(key, "/ranges") {
		return
	}
	if b.after.Add(-1) == 0 {
		b.instead()
	}
}

func (b *restless) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	r, a, err := b.Bucket.Get(ctx, key, off, n)
	b.look(key)
	return r, a, err
}

func (b *restless) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	a, err := b.Bucket.Stat(ctx, key)
	b.look(key)
	return a, err
}

// read asks a mirror for a file, and gives the pieces of it that came.
func read(t *testing.T, url string, headers ...string) (tag string, status int, body []byte, err error) {
	r, _ := http.NewRequest(http.MethodGet, url+mirrorPath, nil)
	r.Close = true // or it is asked again what was cut before its first byte
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.Header.Get("ETag"), resp.StatusCode, body, err
}

func TestMirrorServesOneStateOfAFile(t *testing.T) {
	store := &restless{Bucket: mem.New()}
	h, _, _ := door(t, elastic.Config{}, store)
	srv := httptest.NewServer(h)
	defer srv.Close()
	many := func(name string) []byte { // of one size, whichever it is
		var b bytes.Buffer
		for i := range 200 {
			fmt.Fprintf(&b, "%x", sha256.Sum256(fmt.Append(nil, name, i)))
		}
		return ranges(t, b.String())
	}
	files := [][]byte{many("one"), many("two")}
	known, last := map[string][]byte{}, 0
	put := func() {
		if w := ask(h, files[last%2]); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		last++
	}
	whole := func() string {
		tag, status, body, err := read(t, srv.URL)
		if err != nil || status != http.StatusOK || tag == "" {
			t.Fatal(tag, status, err)
		}
		if was, ok := known[tag]; ok && !bytes.Equal(was, body) {
			t.Fatalf("two bodies of %s", tag)
		}
		known[tag] = body
		return tag
	}
	store.instead = put
	put()
	fine, cut := 0, 0
	for _, span := range []string{"", "bytes=100-5000", "bytes=5000-", "bytes=0-99,6000-6100"} {
		for after := 1; after < 9; after++ {
			before := whole()
			store.after.Store(int32(after))
			tag, status, body, err := read(t, srv.URL, "Range", span, "If-Range", before)
			store.after.Store(0)
			after := whole()
			if err != nil {
				cut++
				continue
			}
			fine++
			switch from := known[tag]; {
			case tag != before && tag != after:
				t.Errorf("%q: the tag %s is of nothing", span, tag)
			case status == http.StatusOK:
				if !bytes.Equal(body, from) {
					t.Errorf("%q: a body of another file, or of two", span)
				}
			case status != http.StatusPartialContent || tag != before:
				t.Errorf("%q: %d of %s, asked for was %s", span, status, tag, before)
			case strings.Contains(span, ","):
				if !bytes.Contains(body, from[:100]) || !bytes.Contains(body, from[6000:6101]) {
					t.Errorf("%q: pieces of another file", span)
				}
			default:
				at := bytes.Index(from, body)
				if want := map[string]int{"bytes=100-5000": 100, "bytes=5000-": 5000}[span]; at != want || !slices.Contains([]int{4901, len(from) - 5000}, len(body)) {
					t.Errorf("%q: %d bytes from %d", span, len(body), at)
				}
			}
		}
	}
	if fine < 20 || cut == 0 {
		t.Errorf("%d answers, %d were cut", fine, cut)
	}
}
