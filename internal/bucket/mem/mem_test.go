package mem_test

import (
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
)

func TestBucket(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket { return mem.New() })
}
