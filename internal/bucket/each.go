package bucket

import (
	"errors"
	"sync"
	"sync/atomic"
)

const workers = 8 // of Each

// Each calls do for all numbers below n, some at a time, until one fails.
func Each(n int, do func(k int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, min(workers, n))
	for w := range errs {
		all.Go(func() {
			for k := int(next.Add(1)) - 1; k < n && errs[w] == nil; k = int(next.Add(1)) - 1 {
				errs[w] = do(k)
			}
			if errs[w] != nil {
				next.Store(int64(n))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
