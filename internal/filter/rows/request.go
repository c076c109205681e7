package rows

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"symbolon/internal/filter"
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
	var err error
	w.text, err = run.Answer(ctx, w.path, w.asked.of(w.doc))
	var refused *filter.StatusError
	if errors.As(err, &refused) && refused.IsRefusal() {
		w.shape, w.err = invalid, errors.New(refused.Reason)
		return nil
	}
	return err
}
