package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/fault"
)

// fake is a store that answers what the test says.
func fake(t testing.TB, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

func xmlError(code, message string) string {
	return "<?xml version=\"1.0\"?>\n<Error><Code>" + code + "</Code><Message>" + message + "</Message><Key>k</Key></Error>"
}

func TestCodeDecidesBeforeStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		kind   fault.Kind
		detail string
		tries  int32
	}{
		{400, xmlError("AuthorizationHeaderMalformed", "the region 'a' is wrong"), fault.Denied, "AuthorizationHeaderMalformed: the region 'a' is wrong", 1},
		{400, xmlError("AuthorizationQueryParametersError", "x"), fault.Denied, "AuthorizationQueryParametersError: x", 1},
		{500, xmlError("AccessDenied", "x"), fault.Denied, "AccessDenied: x", 3},
		{404, xmlError("SignatureDoesNotMatch", "x"), fault.Denied, "SignatureDoesNotMatch: x", 1},
		{403, xmlError("InvalidAccessKeyId", "no "+accessKey+" here"), fault.Denied, "InvalidAccessKeyId: no [redacted] here", 1},
		{404, xmlError("XAdminUserNotFound", "x"), fault.Denied, "XAdminUserNotFound: x", 1},
		{403, xmlError("NoSuchBucket", "x"), fault.NotFound, "NoSuchBucket: x", 1},
		{404, xmlError("NoSuchKey", ""), fault.NotFound, "NoSuchKey", 1},
		{400, xmlError("NotFound", "x"), fault.NotFound, "NotFound: x", 1},
		{403, xmlError("RequestTimeTooSkewed", "two\n lines"), fault.Denied, "RequestTimeTooSkewed: two lines", 1},
		{301, xmlError("PermanentRedirect", "x"), fault.Transport, "PermanentRedirect: x", 1},
		{401, "", fault.Denied, "401 Unauthorized", 1},
		{403, "<html>no</html>", fault.Denied, "403 Forbidden", 1},
		{404, "<Error><Code>NoSuchKey</Code>" + strings.Repeat(" ", 70<<10) + "</Error>", fault.NotFound, "404 Not Found", 1},
		{408, "", fault.Timeout, "408 Request Timeout", 1},
		{429, "", fault.Transport, "429 Too Many Requests", 3},
		{500, "", fault.Transport, "500 Internal Server Error", 3},
		{501, xmlError("NotImplemented", "x"), fault.Transport, "NotImplemented: x", 1},
		{503, xmlError("SlowDown", "less"), fault.Transport, "SlowDown: less", 3},
		{400, xmlError("RequestTimeout", "x"), fault.Transport, "RequestTimeout: x", 3},
	} {
		var tries atomic.Int32
		s := fake(t, func(w http.ResponseWriter, r *http.Request) {
			tries.Add(1)
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, _, err := open(t, config(s.URL, "")).Get(t.Context(), "k", 0, -1)
		f := fault.Of(err)
		if f == nil {
			t.Fatalf("%d %.60q: %v", c.status, c.body, err)
		}
		if f.Kind != c.kind {
			t.Errorf("%d %.60q: %v has kind %v, want %v", c.status, c.body, err, f.Kind, c.kind)
		}
		if f.Detail != c.detail {
			t.Errorf("%d %.60q: detail %q, want %q", c.status, c.body, f.Detail, c.detail)
		}
		if f.Place != "s3://symbols/k" {
			t.Errorf("%d %.60q: place %q", c.status, c.body, f.Place)
		}
		if n := tries.Load(); n != c.tries {
			t.Errorf("%d %.60q: %d tries, want %d", c.status, c.body, n, c.tries)
		}
		if (c.kind == fault.Timeout) != (f.Status == c.status) {
			t.Errorf("%d %.60q: %v has the status %d", c.status, c.body, err, f.Status)
		}
	}
}

func TestStatTellsWhyToo(t *testing.T) {
	s := s3test.Run(t)
	cfg := config(s.Endpoint(), "")
	cfg.SecretKey = bin.NewSecret("another")
	_, err := open(t, cfg).Stat(t.Context(), "k")
	if fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "SignatureDoesNotMatch: ") {
		t.Errorf("with a wrong secret: %v", err)
	}
	cfg = config(s.Endpoint(), "")
	cfg.Bucket = "none"
	if _, err = open(t, cfg).Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{}); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("into a bucket that is not there: %v", err)
	}
}

func TestBusyStoreIsAskedAgainWhenItSays(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	var asked time.Time
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			asked = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			return
		}
		if early := time.Second - time.Since(asked); early > 0 {
			t.Errorf("%v too early", early)
		}
		io.WriteString(w, "blob")
	})
	r, _, err := open(t, config(s.URL, "")).Get(t.Context(), "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); string(got) != "blob" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLongRetryAfterIsNotWaitedFor(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(503)
	})
	start := time.Now()
	_, err := open(t, config(s.URL, "")).Stat(t.Context(), "k")
	if fault.KindOf(err) != fault.Transport || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestStoreThatHangsIsATimeout(t *testing.T) {
	hang := make(chan struct{})
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/symbols/head" {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "a part")
			w.(http.Flusher).Flush()
		}
		<-hang
	})
	defer close(hang)
	b := openWith(t, config(s.URL, ""), s3.Deps{ReadTimeout: 50 * time.Millisecond})
	if _, err := b.Stat(t.Context(), "head"); fault.KindOf(err) != fault.Timeout {
		t.Errorf("Stat: %v", err)
	}
	r, _, err := b.Get(t.Context(), "body", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); string(got) != "a part" || fault.KindOf(err) != fault.Timeout {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBrokenConnectionIsTold(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "a part")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	r, a, err := open(t, config(s.URL, "")).Get(t.Context(), "k", 0, -1)
	if err != nil || a.Size != 1000 {
		t.Fatal(a, err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if string(got) != "a part" || fault.KindOf(err) != fault.Transport {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOtherRangeIsRefused(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"all": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "0123456789") },
		"another": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 3-5/10")
			w.WriteHeader(206)
			io.WriteString(w, "345")
		},
		"no number": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 2-4/*")
			w.WriteHeader(206)
			io.WriteString(w, "234")
		},
	} {
		if _, _, err := open(t, config(fake(t, answer).URL, "")).Get(t.Context(), "k", 2, 3); fault.KindOf(err) != fault.Transport {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A store may find out that it has failed after it has said 200.
func TestFailureInsideOfSuccessIsOne(t *testing.T) {
	var aborted atomic.Bool
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch {
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
			io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>a/b+c</UploadId></InitiateMultipartUploadResult>")
		case r.Method == http.MethodPost:
			io.WriteString(w, xmlError("InternalError", "later"))
		case r.Method == http.MethodDelete && r.URL.Query().Get("uploadId") == "a/b+c":
			aborted.Store(true)
		}
	})
	_, err := open(t, config(s.URL, "")).Put(t.Context(), "k", io.LimitReader(zeros{}, 9<<20), bucket.Attrs{})
	if fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), "InternalError: later") || !aborted.Load() {
		t.Errorf("%v, aborted %v", err, aborted.Load())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestSecretsAreNeverShown(t *testing.T) {
	const canary = "CANARY"
	cfg := s3.Config{
		Bucket: bucketID, AccessKey: bin.NewSecret(canary + "-key"), SecretKey: bin.NewSecret(canary + "-secret"),
		SessionToken: bin.NewSecret(canary + "-token"),
	}
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(403)
		io.WriteString(w, xmlError("Forbidden", fmt.Sprint(r.Header)))
	})
	cfg.Endpoint = s.URL
	b := open(t, cfg)
	_, _, err := b.Get(t.Context(), "k", 0, -1)
	text := fmt.Sprintf("%v %+v %#v %v %+v", err, err, err, cfg, cfg)
	if fault.KindOf(err) != fault.Denied || !strings.Contains(text, "Credential") || strings.Contains(text, canary) {
		t.Errorf("%s", text)
	}
}

func TestStoreMayDieAndComeBack(t *testing.T) {
	t.Parallel()
	s := s3test.Run(t)
	b := open(t, config(s.Endpoint(), "p"))
	body := strings.Repeat("0123456789abcdef", 1<<20)
	if _, err := b.Put(t.Context(), "k", strings.NewReader(body), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	r, _, err := b.Get(t.Context(), "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if _, err := io.Copy(io.Discard, r); fault.KindOf(err) != fault.Transport {
		t.Errorf("reading went on: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := b.Put(ctx, "l", strings.NewReader("x"), bucket.Attrs{IfAbsent: true}); fault.KindOf(err) != fault.Transport {
		t.Errorf("Put: %v", err)
	}
	if _, err := b.Stat(ctx, "k"); fault.KindOf(err) != fault.Transport {
		t.Errorf("Stat: %v", err)
	}
	s.Start()
	again, _, err := b.Get(ctx, "k", 1<<20, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := io.ReadAll(again); string(got) != "0123456789abcdef" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A store that dies while a blob goes up has all of it or nothing.
func TestUploadThatIsCutLeavesNothing(t *testing.T) {
	s := s3test.Run(t)
	b := open(t, config(s.Endpoint(), ""))
	sent := 0
	body := readerFunc(func(p []byte) (int, error) {
		if sent += len(p); sent > 12<<20 {
			s.Kill()
		}
		clear(p)
		return len(p), nil
	})
	_, err := b.Put(t.Context(), "k", io.LimitReader(body, 32<<20), bucket.Attrs{Size: 32 << 20})
	if fault.KindOf(err) != fault.Transport {
		t.Errorf("Put: %v", err)
	}
	s.Start()
	if _, err := b.Stat(t.Context(), "k"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Stat: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestStoreWithoutConditionsIsRefused(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(501)
			io.WriteString(w, xmlError("NotImplemented", "A header you provided implies functionality that is not implemented"))
		}
	})
	b := open(t, config(s.URL, ""))
	if _, err := b.Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{IfAbsent: true}); fault.KindOf(err) != fault.Unsupported || !errors.Is(err, bucket.ErrConditions) {
		t.Errorf("conditional Put: %v", err)
	}
	if _, err := b.Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Errorf("Put: %v", err)
	}
}

func TestConflictOfCreatesIsRetried(t *testing.T) {
	for _, c := range []struct {
		conflicts int32
		then      int
		created   bool
		kind      fault.Kind
	}{{1, 200, true, 0}, {2, 200, true, 0}, {1, 412, false, 0}, {3, 200, false, fault.Transport}} {
		var tries atomic.Int32
		s := fake(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodHead:
				w.WriteHeader(404)
			case tries.Add(1) <= c.conflicts:
				w.WriteHeader(409)
				io.WriteString(w, xmlError("ConditionalRequestConflict", "x"))
			default:
				w.WriteHeader(c.then)
			}
		})
		created, err := open(t, config(s.URL, "")).Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{IfAbsent: true})
		if created != c.created || err != nil && fault.KindOf(err) != c.kind || err == nil && c.kind != 0 {
			t.Errorf("%d conflicts, then %d: created %v, %v", c.conflicts, c.then, created, err)
		}
	}
}

// A store may create the key and fail before it answers.
func TestCreateWhoseAnswerIsLostIsNotReported(t *testing.T) {
	var tries atomic.Int32
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.WriteHeader(500)
			return
		}
		w.WriteHeader(412)
	})
	created, err := open(t, config(s.URL, "")).Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{IfAbsent: true})
	if created || err != nil || tries.Load() != 2 {
		t.Errorf("created %v, %v after %d tries", created, err, tries.Load())
	}
}

func TestCodingOfUploadsIsNotThatOfTheBlob(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "aws-chunked,gzip")
		w.Header().Set("Content-Length", "1")
	})
	if a, err := open(t, config(s.URL, "")).Stat(t.Context(), "k"); err != nil || a.Encoding != "gzip" {
		t.Errorf("%+v, %v", a, err)
	}
}
