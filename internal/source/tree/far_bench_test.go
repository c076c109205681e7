package tree_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"symbolon/internal/bucket/s3test"
	"symbolon/internal/waittest"
)

// BenchmarkLargeFileFromS3 fetches 256 MiB, over connections of their own speed
// and over some that carry 25 MB a second each, as stores far away do.
func BenchmarkLargeFileFromS3(b *testing.B) {
	const size = 256 << 20
	server := s3test.Run(b)
	for name, wire := range map[string]http.RoundTripper{
		"loopback": transport(b), "slow": &slow{transport(b), 25e6},
	} {
		b.Run(name, func(b *testing.B) {
			s := s3Source(b, server, "", wire, map[string][]byte{path: noise(size)})
			c := candidates(b, s)[0]
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if a, err := s.Fetch(b.Context(), c, io.Discard); err != nil || a.Bytes != size {
					b.Fatal(a, err)
				}
			}
		})
	}
}

// slow makes each connection carry so many bytes a second.
type slow struct {
	http.RoundTripper
	rate float64
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = &slowBody{resp.Body, s.rate}
	}
	return resp, err
}

type slowBody struct {
	io.ReadCloser
	rate float64
}

func (s *slowBody) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p[:min(len(p), 256<<10)])
	waittest.Delay(context.Background(), time.Duration(float64(n)/s.rate*float64(time.Second)))
	return n, err
}
