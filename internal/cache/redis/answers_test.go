package redis_test

import (
	"bytes"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache/redis"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

func TestAnswersAreForAllNodesAndForAWhile(t *testing.T) {
	s := start(t)
	cfg := redis.Config{URL: bin.NewSecret(s.url()), MaxEntry: 1 << 20, Timeout: time.Second}
	one, two := open(t, cfg).Answers(), open(t, cfg).Answers()
	answer := bytes.Repeat([]byte("answer\x00"), 10_000)
	if err := one.Put(t.Context(), "id", answer, time.Minute); err != nil {
		t.Fatal(err)
	}
	if got, err := two.Get(t.Context(), "id"); err != nil || !bytes.Equal(got, answer) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := two.Get(t.Context(), "other"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown answer: %v", err)
	}
	if err := one.Put(t.Context(), "id", []byte("x"), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the answer is gone", func() bool {
		_, err := two.Get(t.Context(), "id")
		return fault.KindOf(err) == fault.NotFound
	})
	if err := one.Put(t.Context(), "big", make([]byte, 1<<20+1), time.Minute); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("an answer that is too large: %v", err)
	}
	s.Kill()
	if err := one.Put(t.Context(), "id", answer, time.Minute); fault.KindOf(err) != fault.Transport {
		t.Errorf("without a server: %v", err)
	}
	if _, err := two.Get(t.Context(), "id"); fault.KindOf(err) != fault.Transport {
		t.Errorf("without a server: %v", err)
	}
}
