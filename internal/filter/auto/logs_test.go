package auto_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
)

// failing fails each lookup, once all other goroutines wait.
type failing struct{}

func (failing) Look(context.Context, *filter.Query) (filter.Answer, error) {
	synctest.Wait()
	return nil, errors.New("the lookup failed")
}

// waiting is a reader of a text that does not end.
type waiting struct {
	text      string
	isReading bool
	end       chan struct{}
}

func (r *waiting) Read(p []byte) (int, error) {
	if r.text == "" {
		r.isReading = true
		<-r.end
		return 0, io.EOF
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// The input may be closed after an error.
func TestInputIsNotReadAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &waiting{text: asan, end: make(chan struct{})}
		defer close(in.end)
		err := auto.Logs(t.Context(), &filter.Run{Names: failing{}}, bufio.NewReader(in), bufio.NewWriter(io.Discard))
		if err == nil || err.Error() != "the lookup failed" {
			t.Errorf("got the error %v", err)
		}
		if in.isReading {
			t.Error("the input is being read")
		}
	})
}
