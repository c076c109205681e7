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
				if err := w.answer(ctx, u.run, u.options.Strict); err != nil {
					cancel(err)
				}
				<-slots
			})
		}
	}
	all.Wait()
	return context.Cause(ctx)
}

// skip skips a row, so that a later run answers it. It has an error if each row needs an
// answer.
func (w *row) skip(err error, isStrict bool) {
	if w.err, w.shape = err, unknown; isStrict {
		w.shape = invalid
	}
}

// skipUnanswered skips the rows with frames that have no answer because a server failed.
func (u *unit) skipUnanswered() {
	failures := map[int32]error{} // by module
	for i := range u.query.Modules {
		if err := u.lookups.answer.Missing(int32(i)); err != nil {
			if _, ok := errors.AsType[*filter.Unanswered](err); ok {
				failures[int32(i)] = err
			}
		}
	}
	if len(failures) == 0 {
		return
	}
	for i := range u.rows {
		w := &u.rows[i]
		list := w.list
		if w.shape == crashPing {
			list = w.ping.frames
		}
		for _, f := range u.frames[list.from:list.to] {
			if f.lookup >= 0 && failures[u.query.Addresses[f.lookup].Module] != nil {
				w.skip(failures[u.query.Addresses[f.lookup].Module], u.options.Strict)
				break
			}
		}
	}
}

// answer has an interface answer a row that is a request.
func (w *row) answer(ctx context.Context, run *filter.Run, isStrict bool) error {
	var err error
	w.text, err = run.Ask(ctx, w.path, w.asked.of(w.doc))
	if _, ok := errors.AsType[*filter.Unanswered](err); ok {
		w.skip(err, isStrict)
		return nil
	}
	if refused, ok := errors.AsType[*filter.StatusError](err); ok && refused.IsRefusal() {
		w.shape, w.err = invalid, errors.New(refused.Reason)
		return nil
	}
	return err
}
