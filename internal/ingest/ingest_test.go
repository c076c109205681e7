package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/ingest"
)

// texts is a store of texts, which it publishes in memory.
type texts struct {
	t         *testing.T
	parts     *ingest.Store
	published []string
}

func open(t *testing.T, l ingest.Limits) *texts {
	t.Helper()
	return &texts{t: t, parts: ingest.New(l, ingest.Deps{
		Bucket: mem.New(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Spool: func() (cache.Spool, error) { return cachetest.Spool(t) },
	})}
}

// add sends the part k of count and reports whether that published the upload.
func (x *texts) add(k, count int, text string) (bool, error) {
	x.t.Helper()
	d, err := x.parts.Receive(x.t.Context(), "part", strings.NewReader(text), func(t *ingest.Tee) error {
		_, err := io.Copy(io.Discard, t)
		return err
	})
	if err != nil {
		return false, err
	}
	defer d.Close()
	d.Note = map[string]string{"text": text}
	u := ingest.Upload{Store: x.parts, Folder: ingest.Incoming + "/u", Count: count, Log: slog.New(slog.DiscardHandler), Publish: x.publish}
	return u.Add(x.t.Context(), k, d)
}

// publish publishes the text of all parts, unless it is "bad".
func (x *texts) publish(_ context.Context, c *ingest.Complete) error {
	r := c.Open()
	defer r.Close()
	z, err := ingest.NewDecoder(r)
	if err != nil {
		return err
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	switch {
	case err != nil:
		return err
	case string(text) == "bad":
		return ingest.Refuse(ingest.Malformed, "upload", "the text is bad")
	}
	for _, p := range c.Parts {
		if !bytes.Contains(p.Line, []byte(`"text":"`)) {
			x.t.Errorf("the line of a part is %s", p.Line)
		}
	}
	x.published = append(x.published, string(text))
	return nil
}

func TestCompleteUploadIsPublishedOnce(t *testing.T) {
	for _, count := range []int{1, 3} {
		x := open(t, ingest.Limits{Part: 100, File: 100})
		text := "some text"
		for k := count - 1; k >= 0; k-- {
			isPublished, err := x.add(k, count, text[k*9/count:(k+1)*9/count])
			if err != nil || isPublished != (k == 0) {
				t.Fatalf("part %d of %d: published %v, %v", k, count, isPublished, err)
			}
		}
		if len(x.published) != 1 || x.published[0] != text {
			t.Errorf("%d parts: published %q", count, x.published)
		}
	}
}

func TestRefusedUploadCanBeSentAgain(t *testing.T) {
	x := open(t, ingest.Limits{Part: 100, File: 100})
	var refused *ingest.Refusal
	if _, err := x.add(0, 2, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.add(0, 2, "c"); !errors.As(err, &refused) || refused.Why != ingest.Conflict {
		t.Errorf("another part in the same place: %v", err)
	}
	if _, err := x.add(1, 2, "ad"); !errors.As(err, &refused) || refused.Why != ingest.Malformed {
		t.Errorf("the last part of an upload that is refused: %v", err)
	}
	for k, text := range []string{"go", "od"} {
		if _, err := x.add(k, 2, text); err != nil {
			t.Errorf("part %d after that: %v", k, err)
		}
	}
	if len(x.published) != 1 || x.published[0] != "good" {
		t.Errorf("published %q", x.published)
	}
}

func TestLimitsOfUploads(t *testing.T) {
	x := open(t, ingest.Limits{Part: 10, File: 15})
	var refused *ingest.Refusal
	if _, err := x.add(0, 2, strings.Repeat("x", 11)); !errors.As(err, &refused) || refused.Why != ingest.TooLarge {
		t.Errorf("a part of 11 bytes: %v", err)
	}
	if _, err := x.add(0, 2, strings.Repeat("x", 10)); err != nil {
		t.Errorf("a part of 10 bytes: %v", err)
	}
	if _, err := x.add(1, 2, strings.Repeat("x", 6)); !errors.As(err, &refused) || refused.Why != ingest.TooLarge {
		t.Errorf("parts of 16 bytes: %v", err)
	}
}
