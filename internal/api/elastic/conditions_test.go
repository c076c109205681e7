package elastic_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/api/elastic"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
)

// careless is a bucket that ignores the condition of a create.
type careless struct{ bucket.Bucket }

func (c careless) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	a.IfAbsent = false
	return c.Bucket.Put(ctx, key, r, a)
}

func TestStoreWithoutConditionsTakesWholeFilesOnly(t *testing.T) {
	h, log, _ := door(t, elastic.Config{}, &bucket.Exclusive{Bucket: careless{mem.New()}})
	if w := ask(h, ranges(t, "f")); w.Code != http.StatusOK {
		t.Errorf("a file in one part: %d %s", w.Code, w.Body)
	}
	if w := ask(h, ranges(t, "f"), "FileParts", "2"); w.Code != http.StatusInternalServerError {
		t.Errorf("a part of two: %d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), bucket.ErrConditions.Error()) {
		t.Errorf("the log does not name the reason: %s", log)
	}
}
