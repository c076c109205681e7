package object

import (
	"sync"

	"symbolon/internal/fault"
)

// InOrder does work on values that start fills, until start returns false, and
// delivers them in the order in which they were started. With more than one worker
// values are worked on while earlier ones are delivered; each is in flight once, so
// their number bounds the memory. A panic becomes an error: in a goroutine it would
// end the process.
func InOrder[T any](workers int, start func(*T) bool, work func(*T), deliver func(*T) error, create func() *T) error {
	if workers <= 1 {
		for v := create(); start(v); {
			work(v)
			if err := deliver(v); err != nil {
				return err
			}
		}
		return nil
	}
	type item struct {
		value *T
		done  chan error
	}
	ahead := 4 * workers // so that a large one does not delay many others
	todo := make(chan item, ahead)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for it := range todo {
				it.done <- Safely(work, it.value)
			}
		})
	}
	defer wg.Wait()
	defer close(todo)
	flight := make([]item, 0, ahead)
	begin := func(it item) {
		if start(it.value) {
			flight = append(flight, it)
			todo <- it
		}
	}
	for range ahead {
		begin(item{create(), make(chan error, 1)})
	}
	for len(flight) > 0 {
		it := flight[0]
		flight = flight[1:]
		if err := <-it.done; err != nil {
			return err
		}
		if err := deliver(it.value); err != nil {
			return err
		}
		begin(it)
	}
	return nil
}

// Safely calls work, and returns a panic or a fault of mapped memory as an error.
func Safely[T any](work func(*T), v *T) (err error) {
	defer fault.Recover("debug file", &err)
	defer RecoverFault(&err)()
	work(v)
	return nil
}
