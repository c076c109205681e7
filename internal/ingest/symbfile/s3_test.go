package symbfile_test

import (
	"net/http"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/bucket/s3test"
)

func TestStoreOverS3(t *testing.T) {
	server := s3test.Run(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	for name, test := range scenarios {
		t.Run(name, func(t *testing.T) {
			b, err := s3.New(s3.Config{
				Bucket: s3test.Bucket, Prefix: name, Endpoint: server.Endpoint(),
				AccessKey: bin.NewSecret(s3test.AccessKey), SecretKey: bin.NewSecret(s3test.SecretKey),
			}, s3.Deps{Transport: transport, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			test(t, b)
		})
	}
}

func TestStoreOverMemory(t *testing.T) {
	for name, test := range scenarios {
		t.Run(name, func(t *testing.T) { test(t, mem.New()) })
	}
}
