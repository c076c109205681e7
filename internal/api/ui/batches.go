package ui

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"symbolon/internal/batch"
	"symbolon/internal/bucket"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

const (
	batchesShown = 10
	// maxBatch limits the time to read a destination. One that takes longer is shown with
	// its error.
	maxBatch = 10 * time.Second
)

// batches has the watchers of the destinations that could be opened.
type batches struct {
	mu       sync.Mutex
	watchers map[string]*batch.Watcher
}

type batchData struct {
	Destination string `json:"destination"`
	Error       string `json:"error,omitempty"`
	*batch.Status
}

type batchesData struct {
	Batches []batchData `json:"batches"`
	Next    string      `json:"-"` // page
}

func (d *Door) batchesPage() *page {
	return &page{pattern: "/ui/batches", about: "the progress of batches", menu: "Batches", right: token.Admin, show: d.showBatches}
}

func (d *Door) showBatches(v *visit) (view, error) {
	list, next, err := paged(v, d.deps.Batches, batchesShown)
	if err != nil {
		return view{}, err
	}
	data := batchesData{Batches: make([]batchData, len(list)), Next: next}
	ctx, cancel := context.WithTimeout(v.Context(), maxBatch)
	defer cancel()
	_ = bucket.Each(len(list), func(i int) error { // errors are shown
		one := &data.Batches[i]
		one.Destination = list[i]
		if strings.Contains(list[i], "://") {
			one.Destination = source.CleanURL(list[i])
		}
		w, err := d.watcher(list[i])
		if err == nil {
			one.Status, err = w.Status(ctx)
		}
		if err != nil {
			one.Error = err.Error()
		}
		return nil
	})
	return view{title: "Batches", data: &data, body: batchesView(v, &data)}, v.Context().Err()
}

// watcher returns the one of a destination.
func (d *Door) watcher(destination string) (*batch.Watcher, error) {
	d.batches.mu.Lock()
	defer d.batches.mu.Unlock()
	if w := d.batches.watchers[destination]; w != nil {
		return w, nil
	}
	b, err := d.deps.OpenBatch(destination)
	if err != nil {
		return nil, err
	}
	if d.batches.watchers == nil {
		d.batches.watchers = map[string]*batch.Watcher{}
	}
	w := &batch.Watcher{Output: b, Now: d.deps.Now}
	d.batches.watchers[destination] = w
	return w, nil
}

// progress returns how far a job is, in one line.
func (b *batchData) progress() string {
	units := grouped(int64(b.Units))
	switch {
	case b.IsComplete:
		return "Complete: " + units + " units"
	case b.All == 0:
		return units + " units; their number is not known before the end of an input"
	case b.IsEstimated:
		return fmt.Sprintf("%s of about %s units", units, grouped(int64(b.All)))
	}
	return fmt.Sprintf("%s of %s units", units, grouped(int64(b.All)))
}

// share returns a part of the rows or addresses for people.
func share(part, all int) string {
	rate := float64(part) / float64(max(all, 1))
	return grouped(int64(part)) + " (" + percent(&rate) + ")"
}

// rate returns the rows per second for people, and "" if they are not known.
func (b *batchData) rate() string {
	if b.PerSecond == 0 {
		return ""
	}
	return grouped(int64(b.PerSecond+.5)) + " rows per second"
}

// counted names the units that the counts are of, unless those are all.
func (b *batchData) counted() string {
	if b.Read == b.Units {
		return ""
	}
	return fmt.Sprintf("Counts are of %s of %s units so far; the next view reads more.", grouped(int64(b.Read)), grouped(int64(b.Units)))
}

// name returns the place of the job for a heading.
func (b *batchData) name() string { return cmp.Or(shown(b.Destination), "(empty)") }
