package tree_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/bucket/gcstest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/source/tree"
)

// store is a source in an object store.
func store(t testing.TB, cfg source.Config, b bucket.Bucket) source.Source {
	t.Helper()
	s, err := tree.Far(cfg, tree.Deps{Decoder: source.NewDecoder(bin.Limit{}, nil), Bucket: b, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// s3Source is a source in S3 that has these files.
func s3Source(t testing.TB, server *s3test.Server, prefix string, transport http.RoundTripper, files map[string][]byte) source.Source {
	t.Helper()
	cfg := source.Config{
		ID: "store", Type: source.S3, Bucket: s3test.Bucket, Prefix: prefix, Region: source.Region{"us-east-1", server.Endpoint()},
		AccessKey: bin.NewSecret(s3test.AccessKey), SecretKey: bin.NewSecret(s3test.SecretKey),
	}
	b, err := s3.New(s3.Config{
		Bucket: cfg.Bucket, Prefix: cfg.Prefix, Endpoint: cfg.Region.Endpoint(), AccessKey: cfg.AccessKey, SecretKey: cfg.SecretKey,
	}, s3.Deps{Transport: transport, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for key, data := range files {
		if _, err := b.Put(t.Context(), key, bytes.NewReader(data), bucket.Attrs{Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
	}
	return store(t, cfg, b)
}

func transport(t testing.TB) *http.Transport {
	own := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(own.CloseIdleConnections)
	return own
}

func TestSourceInS3(t *testing.T) {
	t.Parallel()
	server := s3test.Run(t)
	number := 0
	sourcetest.Run(t, func(t *testing.T, files map[string][]byte) source.Source {
		number++
		return s3Source(t, server, fmt.Sprint("t", number), transport(t), files)
	})
}

func TestSourceInGCS(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T, files map[string][]byte) source.Source {
		server := gcstest.Run(t)
		cfg := source.Config{ID: "store", Type: source.GCS, Bucket: gcstest.Bucket, Prefix: "p", URL: source.NewURL(server.URL)}
		b, err := gcs.New(gcs.Config{
			Bucket: cfg.Bucket, Prefix: cfg.Prefix, Endpoint: server.URL, BearerToken: bin.NewSecret(server.Grant("read_write")),
		}, gcs.Deps{Transport: transport(t), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		for key, data := range files {
			if _, err := b.Put(t.Context(), key, bytes.NewReader(data), bucket.Attrs{}); err != nil {
				t.Fatal(err)
			}
		}
		return store(t, cfg, b)
	})
}

// counted counts the requests that pass, and breaks the bodies of answers.
type counted struct {
	http.RoundTripper
	gets  atomic.Int32
	cut   int64       // bytes after which a body ends, zero: none does
	after func(int32) // called with the number of each GET before it is made
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		n := c.gets.Add(1)
		if c.after != nil {
			c.after(n)
		}
	}
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil && c.cut > 0 && r.Method == http.MethodGet {
		resp.Body = &cutBody{resp.Body, c.cut}
	}
	return resp, err
}

type cutBody struct {
	io.ReadCloser
	left int64
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func noise(size int) []byte {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{3}).Read(data)
	return data
}

func TestLargeFilesAreResumed(t *testing.T) {
	t.Parallel()
	const size = 3*source.Piece + 77
	server := s3test.Run(t)
	wire := &counted{RoundTripper: transport(t)}
	data := noise(size)
	s := s3Source(t, server, "", wire, map[string][]byte{path: data})
	got, a, err := get(t, s)
	if err != nil || got != string(data) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if n := wire.gets.Load(); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
	if a.Retries != 0 {
		t.Errorf("%d retries, want 0", a.Retries)
	}
	wire.cut = 3 << 20
	got, a, err = get(t, s)
	if err != nil || got != string(data) {
		t.Fatalf("with broken connections: %d bytes, %v", len(got), err)
	}
	if a.Retries != 6 {
		t.Errorf("with broken connections: %d retries, want 6", a.Retries)
	}
	if a.Wire != size {
		t.Errorf("with broken connections: %d bytes were received, want %d", a.Wire, size)
	}
}

func TestFileThatIsReplacedMeanwhileIsNotMixed(t *testing.T) {
	t.Parallel()
	server := s3test.Run(t)
	wire := &counted{RoundTripper: transport(t)}
	s := s3Source(t, server, "", wire, map[string][]byte{path: noise(6 * source.Piece)})
	replaced := make(chan struct{})
	wire.after = func(n int32) {
		switch {
		case n == 5: // of six; four are under way
			s3Source(t, server, "", wire.RoundTripper, map[string][]byte{path: make([]byte, 6*source.Piece)})
			close(replaced)
		case n > 5:
			<-replaced
		}
	}
	got, _, err := get(t, s)
	if fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), "replaced while it was read") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestFileThatIsKnownIsNotSentAgain(t *testing.T) {
	server := s3test.Run(t)
	s := s3Source(t, server, "", transport(t), map[string][]byte{path: []byte("first")})
	c := candidates(t, s)[0]
	var got bytes.Buffer
	a, err := s.Fetch(t.Context(), c, &got)
	if err != nil || a.Same || a.Validator == "" || got.String() != "first" {
		t.Fatalf("%q, %+v, %v", got.String(), a, err)
	}
	c.Validator = a.Validator
	got.Reset()
	if a, err = s.Fetch(t.Context(), c, &got); err != nil || got.Len() > 0 {
		t.Fatalf("the same file: %q, %v", got.String(), err)
	}
	if !a.Same {
		t.Error("the same file is reported as another one")
	}
	if a.Validator != c.Validator {
		t.Errorf("the same file has the validator %q, want %q", a.Validator, c.Validator)
	}
	s3Source(t, server, "", transport(t), map[string][]byte{path: []byte("second")})
	if a, err = s.Fetch(t.Context(), c, &got); err != nil || got.String() != "second" {
		t.Fatalf("another file: %q, %v", got.String(), err)
	}
	if a.Same {
		t.Error("another file is reported as the same")
	}
	if a.Validator == c.Validator {
		t.Errorf("another file has the same validator %q", a.Validator)
	}
}

func candidates(t testing.TB, s source.Source) []source.Candidate {
	t.Helper()
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "a.so", DebugID: debugID}, []string{source.Breakpad})
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}

// Stores that may deliver different files for one path have different
// identities, and none of these shows a secret.
func TestIdentityOfAStore(t *testing.T) {
	const canary = "CANARY"
	base := source.Config{ID: "a", Type: source.S3, Bucket: "b", AccessKey: bin.NewSecret(canary), SecretKey: bin.NewSecret(canary)}
	seen := map[string]int{}
	add := func(cfg source.Config, guarded bool) {
		t.Helper()
		s, err := tree.Far(cfg, tree.Deps{Decoder: source.NewDecoder(bin.Limit{}, nil), Bucket: mem.New(), Guarded: guarded, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		c := candidates(t, s)[0]
		if all := c.Key + c.Location + s.Identity(); strings.Contains(all, canary) || c.Local {
			t.Errorf("%s, %+v", all, c)
		}
		seen[c.Key]++
	}
	add(base, false)
	add(base, true)
	for _, change := range []func(*source.Config){
		func(c *source.Config) { c.Bucket = "c" },
		func(c *source.Config) { c.Prefix = "p" },
		func(c *source.Config) { c.Region = source.Region{"r"} },
		func(c *source.Config) { c.Region = source.Region{"", "http://h"} },
		func(c *source.Config) { c.Region = source.Region{"r", "http://h"} },
		func(c *source.Config) { c.AccessKey = bin.NewSecret("other") },
		func(c *source.Config) { c.SecretKey = bin.NewSecret("other") },
		func(c *source.Config) { c.SessionToken = bin.NewSecret(canary) },
		func(c *source.Config) { c.Provider = source.Instance },
		func(c *source.Config) { *c = source.Config{ID: "a", Type: source.GCS, Bucket: "b"} },
		func(c *source.Config) {
			*c = source.Config{ID: "a", Type: source.GCS, Bucket: "b", URL: source.NewURL("http://h")}
		},
		func(c *source.Config) {
			*c = source.Config{ID: "a", Type: source.GCS, Bucket: "b", BearerToken: bin.NewSecret(canary)}
		},
		func(c *source.Config) {
			*c = source.Config{ID: "a", Type: source.GCS, Bucket: "b", GoogleProvider: source.Ambient}
		},
		func(c *source.Config) {
			*c = source.Config{ID: "a", Type: source.GCS, Bucket: "b", ClientEmail: "e", PrivateKey: bin.NewSecret(canary)}
		},
	} {
		cfg := base
		change(&cfg)
		add(cfg, false)
	}
	if len(seen) != 16 {
		t.Errorf("%d identities of 16: %v", len(seen), seen)
	}
	again := base
	again.ID, again.Prefix = "another name", "/"
	add(again, false)
	if len(seen) != 16 {
		t.Error("the name of a source counts")
	}
}

func TestLocationInAStore(t *testing.T) {
	s := store(t, source.Config{ID: "a", Type: source.S3, Bucket: "b", Prefix: "/p q/"}, mem.New())
	if got, want := candidates(t, s)[0].Location, "s3://b/p%20q/"+path; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s = store(t, source.Config{ID: "a", Type: source.GCS, Bucket: "b"}, mem.New())
	if got, want := candidates(t, s)[0].Location, "gs://b/"+path; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDownloadsFromAStoreAreBounded(t *testing.T) {
	b := mem.New()
	if _, err := b.Put(t.Context(), path, strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	turns := 0
	s, err := tree.Far(source.Config{ID: "a", Type: source.S3, Bucket: "b"}, tree.Deps{Decoder: source.NewDecoder(bin.Limit{}, nil),
		Bucket: b, Now: time.Now, Timeout: 20 * time.Millisecond,
		Line: func(ctx context.Context) (func(), error) {
			if turns++; turns == 1 {
				return func() { turns = 10 }, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := get(t, s); got != "x" || err != nil || turns != 10 {
		t.Errorf("%q, %v, %d", got, err, turns)
	}
	if _, _, err := get(t, s); fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "not finished within 20ms") {
		t.Errorf("after the last release: %v", err)
	}
}
