package s3_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/fault"
)

// wire keeps the last request and answers with an empty blob.
type wire struct{ last *http.Request }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.last = r
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestAddressOfABucket(t *testing.T) {
	for _, c := range []struct {
		cfg  s3.Config
		want string
	}{
		{s3.Config{Bucket: "b-1"}, "https://b-1.s3.us-east-1.amazonaws.com/k"},
		{s3.Config{Bucket: "b-1", Region: "eu-west-3", Prefix: "/a/b//"}, "https://b-1.s3.eu-west-3.amazonaws.com/a/b/k"},
		{s3.Config{Bucket: "b-1", Region: "cn-north-1"}, "https://b-1.s3.cn-north-1.amazonaws.com.cn/k"},
		{s3.Config{Bucket: "with.dots"}, "https://s3.us-east-1.amazonaws.com/with.dots/k"},
		{s3.Config{Bucket: "Old_Name"}, "https://s3.us-east-1.amazonaws.com/Old_Name/k"},
		{s3.Config{Bucket: "b-1", Endpoint: "http://minio:9000"}, "http://minio:9000/b-1/k"},
		{s3.Config{Bucket: "b-1", Endpoint: "http://Minio:9000/"}, "http://minio:9000/b-1/k"},
		{s3.Config{Bucket: "b-1", Endpoint: "https://host/store/s3", Prefix: "p"}, "https://host/store/s3/b-1/p/k"},
		{s3.Config{Bucket: "b-1", Endpoint: "https://host/store/s3/", Region: "any"}, "https://host/store/s3/b-1/k"},
		{s3.Config{Bucket: "b-1", Endpoint: "host"}, "https://host/b-1/k"},
	} {
		w := &wire{}
		if _, err := openWith(t, c.cfg, s3.Deps{Transport: w}).Stat(t.Context(), "k"); err != nil || w.last.URL.String() != c.want {
			t.Errorf("%+v: %v, %v; want %s", c.cfg, w.last.URL, err, c.want)
		}
		if w.last.Header.Get("Authorization") != "" {
			t.Errorf("%+v: signed without a key", c.cfg)
		}
	}
}

func TestUnusableConfigurationIsRefused(t *testing.T) {
	for _, c := range []struct {
		cfg  s3.Config
		kind fault.Kind
	}{
		{s3.Config{}, fault.Malformed},
		{s3.Config{Bucket: ".."}, fault.Malformed},
		{s3.Config{Bucket: "a/b"}, fault.Malformed},
		{s3.Config{Bucket: "b", Region: "x.evil.example/"}, fault.Malformed},
		{s3.Config{Bucket: "b", Region: "http://user:CANARY@host"}, fault.Malformed},
		{s3.Config{Bucket: "b", Endpoint: "ftp://host"}, fault.Malformed},
		{s3.Config{Bucket: "b", Endpoint: "http://"}, fault.Malformed},
		{s3.Config{Bucket: "b", Endpoint: "http://user:CANARY@host"}, fault.Malformed},
		{s3.Config{Bucket: "b", Endpoint: "http://host?CANARY"}, fault.Malformed},
		{s3.Config{Bucket: "b", Provider: "magic"}, fault.Unsupported},
		{s3.Config{Bucket: "b", Provider: s3.Container}, fault.Denied},
		{s3.Config{Bucket: "b", Provider: s3.Instance}, fault.Denied},
		{s3.Config{Bucket: "b", Provider: s3.WebIdentity}, fault.Denied},
	} {
		if _, err := s3.New(c.cfg, s3.Deps{Transport: &wire{}, Now: time.Now}); fault.KindOf(err) != c.kind || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%+v: %v, want %v", c.cfg, err, c.kind)
		}
	}
}

// The expected signatures were made by an implementation of its own, in Python,
// see testdata/sign.py.
func TestSignatures(t *testing.T) {
	cfg := s3.Config{
		Bucket: "examplebucket", Region: "eu-central-1", Prefix: "ä b",
		AccessKey: bin.NewSecret("AKEXAMPLE"), SecretKey: bin.NewSecret("secret/of+example"),
	}
	now := func() time.Time { return time.Date(2025, 3, 9, 23, 59, 1, 0, time.FixedZone("", -3600)) }
	for _, c := range []struct {
		token, want string
		do          func(b *s3.Bucket) error
	}{
		{"", "GET", func(b *s3.Bucket) error { _, _, err := b.Get(t.Context(), "x=1;y+'(~", 0, -1); return err }},
		{"tok=en", "PUT", func(b *s3.Bucket) error {
			_, err := b.Put(t.Context(), "k/k", strings.NewReader("body"), bucket.Attrs{Encoding: "gzip", IfAbsent: true})
			return err
		}},
	} {
		cfg.SessionToken = bin.NewSecret(c.token)
		w := &wire{}
		if err := c.do(openWith(t, cfg, s3.Deps{Transport: w, Now: now})); err != nil {
			t.Fatal(err)
		}
		if got := w.last.Header.Get("Authorization"); got != signatures[c.want] {
			t.Errorf("%s %s\n got %s\nwant %s", w.last.Method, w.last.URL, got, signatures[c.want])
		}
	}
}

var signatures = map[string]string{
	"GET": "AWS4-HMAC-SHA256 Credential=AKEXAMPLE/20250310/eu-central-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=1187177895b320220e054e9fe89ed068532cb399889cf190e90eb0bedcd3d932",
	"PUT": "AWS4-HMAC-SHA256 Credential=AKEXAMPLE/20250310/eu-central-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=099f853789183a02395a643cfdf75d77a815be222ef4f2d522bc6094e18758a3",
}
