package source_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"symbolon/internal/source"
)

// A forgotten item is made again, even if it was being made at that time.
func TestWhatIsForgottenIsMadeAnew(t *testing.T) {
	shelf := source.NewShelf(1<<20, time.Now, slog.New(slog.DiscardHandler))
	made := 0
	begun, goOn := make(chan struct{}), make(chan struct{})
	get := func() int {
		n, err := source.Keep(t.Context(), shelf, source.Request[int]{
			Owner: t, Name: "list", Life: func(int) time.Duration { return time.Hour }, Limit: time.Minute,
			Make: func(context.Context) (int, int64, error) {
				if made++; made == 2 {
					close(begun)
					<-goOn
				}
				return made, 8, nil
			},
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	forget := func(which string) { shelf.Forget(func(name string) bool { return name == which }) }
	get()
	forget("another")
	if n := get(); n != 1 {
		t.Errorf("it is made %d times", n)
	}
	forget("list")
	late := make(chan int)
	go func() { late <- get() }()
	<-begun
	forget("list")
	close(goOn)
	if n := <-late; n != 2 {
		t.Errorf("after it was forgotten: the one made as number %d", n)
	}
	for range 2 {
		if n := get(); n != 3 {
			t.Errorf("after it was forgotten while it was made: number %d", n)
		}
	}
}
