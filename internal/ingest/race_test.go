package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/ingest"
	"symbolon/internal/source"
)

// hooked is a bucket in which something happens, once, right before or behind what
// is done with a key.
type hooked struct {
	bucket.Bucket
	mu    sync.Mutex
	hooks map[string]func()
}

func (h *hooked) on(what, key string, do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hooks == nil {
		h.hooks = map[string]func(){}
	}
	h.hooks[what+" "+key] = do
}

func (h *hooked) run(what, key string) {
	h.mu.Lock()
	do := h.hooks[what+" "+key]
	delete(h.hooks, what+" "+key)
	h.mu.Unlock()
	if do != nil {
		do()
	}
}

func (h *hooked) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	h.run("before get", key)
	return h.Bucket.Get(ctx, key, off, n)
}

func (h *hooked) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) error {
	h.run("before put", key)
	err := h.Bucket.Put(ctx, key, r, a)
	h.run("behind put", key)
	return err
}

func keyOf(upload string, k, n int) string {
	return fmt.Sprintf("incoming/%s/ranges/%d/%s/%d", fileID.Base64(), n, upload, k)
}

// TestAPartThatIsSentTwiceAtOnceIsNotLeftBehind has a repetition that is stored when
// the parts were published and removed.
func TestAPartThatIsSentTwiceAtOnceIsNotLeftBehind(t *testing.T) {
	b := &hooked{Bucket: mem.New()}
	n := open(t, b, ingest.Config{})
	other := beside(t, b, ingest.Config{}, n.clock)
	parts := split("twice", 2)
	n.sent(part(0, 2), parts[0], false)
	b.on("before put", keyOf("~", 0, 2), func() {
		n.clock.pass(time.Second)
		other.sent(part(1, 2), parts[1], true)
		n.clock.pass(time.Second)
	})
	n.sent(part(0, 2), parts[0], false)
	n.holds(parts...)
	if left := n.waiting("~", 2); left != nil {
		t.Errorf("parts are left: %v", left)
	}
}

func TestARepetitionOfAnUploadThatTellsIsKnownForGood(t *testing.T) {
	n := open(t, mem.New(), ingest.Config{})
	parts := split("told", 2)
	n.sent(of("u", 0, 2), parts[0], false)
	n.sent(of("u", 1, 2), parts[1], true)
	n.clock.pass(10 * time.Hour)
	n.sent(of("u", 1, 2), parts[1], false)
	if left := n.waiting("u", 2); left != nil {
		t.Errorf("parts are left: %v", left)
	}
}

// TestUploadsThatMeetBeforePublishing has the part of another upload come when the
// last one is stored already.
func TestUploadsThatMeetBeforePublishing(t *testing.T) {
	b := &hooked{Bucket: mem.New()}
	n := open(t, b, ingest.Config{})
	other := beside(t, b, ingest.Config{}, n.clock)
	one, two := split("one", 3), split("two", 3)
	n.sent(part(0, 3), one[0], false)
	n.sent(part(2, 3), one[2], false)
	b.on("before get", keyOf("~", 2, 3), func() { other.refused(part(0, 3), two[0], ingest.Conflict) })
	n.refused(part(1, 3), one[1], ingest.Conflict)
	if n.published(ingest.Ranges) != nil {
		t.Error("it is published")
	}
}

func TestPartsAreRemovedAlsoIfNobodyWaits(t *testing.T) {
	b := &hooked{Bucket: mem.New()}
	n := open(t, b, ingest.Config{})
	parts := split("gone", 2)
	n.sent(part(0, 2), parts[0], false)
	ctx, cancel := context.WithCancel(t.Context())
	b.on("behind put", source.ElasticPath(fileID, "ranges"), cancel)
	_, _ = n.Take(ctx, part(1, 2), bytes.NewReader(parts[1])) // whatever it says, nobody hears it
	n.holds(parts...)
	if left := n.waiting("~", 2); left != nil {
		t.Errorf("parts are left: %v", left)
	}
}
