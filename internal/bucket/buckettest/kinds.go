package buckettest

import (
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3test"
)

// Each runs a test with an empty bucket of each kind: in memory, in a folder, and in an
// object store, as a node opens it.
func Each(t *testing.T, test func(*testing.T, bucket.Bucket)) {
	t.Run("memory", func(t *testing.T) { test(t, mem.New()) })
	t.Run("folder", func(t *testing.T) { test(t, Folder(t)) })
	t.Run("object store", func(t *testing.T) { test(t, &bucket.Exclusive{Bucket: s3test.Run(t).Open(t, "")}) })
}

// Folder returns an empty bucket in a folder.
func Folder(t testing.TB) bucket.Bucket {
	t.Helper()
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
