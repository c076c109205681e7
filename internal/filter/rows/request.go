package rows

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"symbolon/internal/filter"
)

// answerRequests has the interfaces answer the rows that are requests, on all cores. It
// ends with the first error.
func (u *unit) answerRequests(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range u.rows {
		if w := &u.rows[i]; w.shape == request && ctx.Err() == nil {
			slots <- struct{}{}
			all.Go(func() {
				if err := w.answer(ctx, u.run); err != nil {
					cancel(err)
				}
				<-slots
			})
		}
	}
	all.Wait()
	return context.Cause(ctx)
}

// answer has an interface answer a row that is a request.
func (w *row) answer(ctx context.Context, run *filter.Run) error {
	var err error
	w.text, err = run.Ask(ctx, w.path, w.asked.of(w.doc))
	if refused, ok := errors.AsType[*filter.StatusError](err); ok && refused.IsRefusal() {
		w.shape, w.err = invalid, errors.New(refused.Reason)
		return nil
	}
	return err
}
