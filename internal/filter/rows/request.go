package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
)

// answerRequests has the interfaces answer the rows that are requests, on all cores.
func (u *unit) answerRequests(ctx context.Context) error {
	errs := make([]error, len(u.rows))
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range u.rows {
		if w := &u.rows[i]; w.shape == request {
			slots <- struct{}{}
			all.Go(func() {
				errs[i] = w.answer(ctx, u.run)
				<-slots
			})
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// answer has an interface answer a row that is a request.
func (w *row) answer(ctx context.Context, run *filter.Run) error {
	text, err := run.Answer(ctx, w.path, w.asked.of(w.doc))
	var refused *filter.StatusError
	if errors.As(err, &refused) && refused.IsRefusal() {
		w.shape, w.err = invalid, errors.New(refused.Reason)
		return nil
	}
	if err != nil {
		return err
	}
	var r rawjson.Reader
	r.Reset(text)
	r.Skip()
	if r.End(); r.Err != nil {
		return fmt.Errorf("%s: invalid answer: %w", w.path, r.Err)
	}
	w.text = bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte(" "))
	return nil
}
