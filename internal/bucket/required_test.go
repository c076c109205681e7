package bucket_test

import (
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/fault"
)

func TestRequiredBucket(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket { return bucket.Required{Bucket: mem.New()} })
}

func TestCallsWithoutARequiredBucketFail(t *testing.T) {
	place := s3test.Run(t).Place()
	b := bucket.Required{Bucket: place.Open(t, "")}
	if _, _, err := b.Get(t.Context(), "k", 0, -1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a missing key: %v", err)
	}
	missing, refused := place, place
	missing.Bucket, refused.SecretKey = "none", "wrong"
	for want, p := range map[string]s3test.Place{bucket.ErrNoBucket.Error(): missing, "SignatureDoesNotMatch": refused} {
		b := bucket.Required{Bucket: p.Open(t, "")}
		_, _, got := b.Get(t.Context(), "k", 0, -1)
		_, put := b.Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{})
		_, _, list := b.List(t.Context(), "", "", 1)
		calls := map[string]error{"Get": got, "Put": put, "List": list}
		if p == refused {
			_, calls["Stat"] = b.Stat(t.Context(), "k")
			calls["Delete"] = b.Delete(t.Context(), "k")
		}
		for name, err := range calls {
			if fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want a failure of transport with %s", name, err, want)
			}
		}
	}
}
