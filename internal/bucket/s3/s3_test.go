package s3_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/bucket/s3test"
)

const (
	accessKey = s3test.AccessKey
	secretKey = s3test.SecretKey
	bucketID  = s3test.Bucket
)

// config is a folder in a bucket.
func config(endpoint, prefix string) s3.Config {
	return s3.Config{
		Bucket: bucketID, Prefix: prefix, Endpoint: endpoint,
		AccessKey: bin.NewSecret(accessKey), SecretKey: bin.NewSecret(secretKey),
	}
}

func open(t testing.TB, cfg s3.Config) *s3.Bucket {
	t.Helper()
	return openWith(t, cfg, s3.Deps{})
}

// openWith fills in what deps lack.
func openWith(t testing.TB, cfg s3.Config, deps s3.Deps) *s3.Bucket {
	t.Helper()
	if deps.Transport == nil {
		transport := &http.Transport{MaxIdleConnsPerHost: 16}
		t.Cleanup(transport.CloseIdleConnections)
		deps.Transport = transport
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	b, err := s3.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBucket(t *testing.T) {
	t.Parallel()
	for _, p := range append(s3test.Named(t), s3test.Run(t).Place()) {
		t.Run(strings.ReplaceAll(p.Endpoint, "/", ""), func(t *testing.T) {
			buckettest.Run(t, func(t *testing.T) bucket.Bucket {
				return p.Open(t, "/test "+rand.Text()+"/")
			})
		})
	}
}
