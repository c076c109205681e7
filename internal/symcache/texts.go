package symcache

import (
	"cmp"

	"symbolon/internal/fault"
	"symbolon/internal/sym"
	"symbolon/internal/symcache/set"
	"symbolon/internal/symcache/strtab"
)

// batchSize is the number of bytes of texts that names gets at a time.
const batchSize = 64 << 10

// batch is a list of texts.
type batch struct {
	text []byte
	ends []int
}

// texts adds each text of a build to names once. With two workers names adds
// one batch while the next one is filled.
type texts struct {
	names   *strtab.Builder
	source  func(dst []byte, t sym.Text) []byte
	workers int
	seen    set.Set[strtab.Sum]
	next    batch
	current batch
	done    <-chan error // result of work; nil: names is idle
	err     error        // the first error
	held    int64        // memory of names when it was last idle
}

// number returns the number of the text of a handle.
func (x *texts) number(t sym.Text) uint32 {
	b := &x.next
	from := len(b.text)
	b.text = x.source(b.text, t)
	b.text = b.text[:min(len(b.text), from+MaxText)]
	id, fresh := x.seen.Number(x.names.Sum(b.text[from:]))
	if !fresh {
		b.text = b.text[:from]
		return id
	}
	if b.ends = append(b.ends, len(b.text)); len(b.text) >= batchSize {
		x.submit()
	}
	return id
}

// submit passes the next batch to names.
func (x *texts) submit() {
	x.wait()
	x.next, x.current = batch{x.current.text[:0], x.current.ends[:0]}, x.next
	take := func() error {
		from := 0
		for _, end := range x.current.ends {
			x.names.Add(x.current.text[from:end])
			from = end
		}
		return nil
	}
	if x.workers > 1 {
		x.done = spawn(take)
	} else {
		x.finish(take())
	}
}

// wait waits until names is idle.
func (x *texts) wait() {
	if x.done != nil {
		x.finish(<-x.done)
		x.done = nil
	}
}

// finish records the result of a batch.
func (x *texts) finish(err error) {
	n := x.names
	if err == nil && n.IsFull() {
		err = fault.New(fault.Unsupported, "symcache, build", "more than 1<<31 names")
	}
	x.err = cmp.Or(x.err, err)
	x.held = n.Held()
}

// spawn runs f in a goroutine and returns a channel for its result. A panic in
// f becomes an error, as it would end the process.
func spawn(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer fault.Recover("symcache, build", &err)
		err = f()
	}()
	return done
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Internal, "symcache, build", format, args...)
}
