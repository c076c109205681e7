package symbfile_test

import (
	"testing"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3test"
)

func TestStoreOverS3(t *testing.T) {
	t.Parallel()
	server := s3test.Run(t)
	for name, test := range scenarios {
		t.Run(name, func(t *testing.T) { test(t, server.Open(t, name)) })
	}
}

func TestStoreOverMemory(t *testing.T) {
	for name, test := range scenarios {
		t.Run(name, func(t *testing.T) { test(t, mem.New()) })
	}
}
