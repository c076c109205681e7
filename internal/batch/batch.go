// Package batch rewrites the rows of many files, so that the work can be interrupted at
// any moment, started again, and divided among machines. It needs no queue and no lease:
// its whole state is in the folder or bucket of the output.
//
//	job.json                        the inputs with their sizes and versions, and the options
//	part/000000-000000.ndjson.zst   the rows of a unit: the first of the first input
//	part/000000-000000.json         its counts, some missing modules, and its time
//	part/000000-000000.2.ndjson.zst the same unit later, with more names
//	done.json                       the totals and all parts, when all are complete
//
// All of them are created conditionally and never rewritten. A part is complete when
// it exists, so two runs with the same unit are harmless: the first part is kept.
// A unit is redone as the next version if sources could not be reached, or modules
// were missing and Options.Retry is set. The next version is stored if it has more
// names; then the one before it is removed.
//
// A unit is Options.Unit consecutive rows of one input, and the last of an input may have
// less. The positions of units are not stored: inputs are read from their beginning,
// which is cheap compared to lookups, and rows of complete units are skipped. So
// compressed inputs are not a special case, nothing is read twice, and inputs are read
// concurrently. An input whose units are all complete is not read. The names of parts are
// in the order of the rows.
//
// Rows are looked up in chunks of 1 MiB, by all processors. Each chunk is a frame of
// zstd in the part. Memory has a fixed number of chunks, however large units and
// inputs are; a row above 32 MiB is copied. The decoder of zstd has at most 128 MiB.
//
// The same inputs, options and symbols make the same bytes, however often the work
// was interrupted and however it was divided.
package batch

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket"
	"symbolon/internal/filter"
	"symbolon/internal/filter/rows"
)

// Options are those of a Run.
type Options struct {
	Inputs []string // files, folders, objects, and prefixes of objects: s3://BUCKET/KEY, gs://BUCKET/KEY
	Out    string   // a folder, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX
	Unit   int      // rows of a unit
	Part   Part     // the zero value is all of the work
	Retry  bool     // redo units with missing modules
	Rows   rows.Options
	// NewRun returns the names for a unit.
	NewRun func() *filter.Run
	// Open opens a bucket or a folder, which it creates if isOutput is set.
	Open func(place string, isOutput bool) (bucket.Bucket, error)
	// Now is the clock for the times of units; nil: they have none.
	Now func() time.Time
	// Progress is called by one goroutine at a time with the bytes that were read so
	// far, and with those that are to be read; may be nil.
	Progress func(read, all int64)
}

// Result is the outcome of a Run.
type Result struct {
	Counts                // of all units of the part, those of earlier runs too
	Units      int        // their number
	Missing    filter.Run // for its Report: the modules that were missing in this run
	IsComplete bool       // all units of all parts are complete
}

// run is the work of one process.
type run struct {
	*Options
	out    bucket.Bucket
	inputs []input
	parts  map[unitID]*part

	cancel context.CancelCauseFunc
	free   chan *chunk   // those that are not in use
	jobs   chan *chunk   // those to rewrite
	slots  chan struct{} // one for each open unit
	units  sync.WaitGroup
	result Result

	mu        sync.Mutex
	read, all int64
}

// Run does the units of the part that are not complete, or need to be redone.
func Run(ctx context.Context, o *Options) (_ *Result, err error) {
	with := *o
	with.Rows.OnlyRows = true
	w := &run{Options: &with, parts: map[unitID]*part{}}
	if w.inputs, err = o.find(ctx); err != nil {
		return nil, err
	}
	store, err := o.Open(o.Out, true)
	if err != nil {
		return nil, err
	}
	w.out = &bucket.Exclusive{Bucket: store}
	defer func() {
		if _, ok := errors.AsType[*fs.PathError](err); ok { // those of inputs have none
			err = within(o.Out, err)
		}
	}()
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	if err := w.load(ctx); err != nil {
		return nil, err
	}
	if err := w.work(ctx); err != nil {
		return &w.result, err
	}
	if err := w.load(ctx); err != nil {
		return &w.result, err
	}
	if err := w.end(ctx); err != nil || w.result.IsComplete || w.Part.Count > 0 {
		return &w.result, err
	}
	return &w.result, errors.New("the output is incomplete because another run is changing it; run the same command again")
}

// work reads the inputs with work, as many at a time as there are processors.
func (w *run) work(ctx context.Context) error {
	processors := runtime.GOMAXPROCS(0)
	ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.cancel(nil)
	w.free, w.jobs = make(chan *chunk, 2*processors+2), make(chan *chunk)
	for range cap(w.free) {
		w.free <- &chunk{done: make(chan struct{}, 1)}
	}
	w.slots = make(chan struct{}, 2*processors)
	var workers, readers sync.WaitGroup
	for range processors {
		workers.Go(func() { w.rewrite(ctx) })
	}
	todo := make(chan int, len(w.inputs))
	for i := range w.inputs {
		if w.isOpen(i) {
			todo <- i
			w.all += w.inputs[i].Size
		}
	}
	close(todo)
	for range min(processors, len(todo)) {
		readers.Go(func() {
			for i := range todo {
				if err := w.cut(ctx, i); err != nil {
					w.cancel(err)
				}
			}
		})
	}
	readers.Wait()
	w.units.Wait()
	close(w.jobs)
	workers.Wait()
	return context.Cause(ctx)
}

// rewrite rewrites and compresses chunks.
func (w *run) rewrite(ctx context.Context) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(windowSize),
		zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	for c := range w.jobs {
		if c.err = err; err == nil {
			c.err = c.rewrite(ctx, &w.Rows, enc)
		}
		c.done <- struct{}{}
	}
}

// chunk returns a chunk that is not in use.
func (w *run) chunk(ctx context.Context) (*chunk, error) {
	select {
	case c := <-w.free:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
