package symcache

import (
	"cmp"
	"runtime/debug"

	"symbolon/internal/fault"
	"symbolon/internal/sym"
)

// batchSize is how many bytes of texts names are given at a time.
const batchSize = 64 << 10

// batch is texts, one behind the other.
type batch struct {
	text []byte
	ends []int
}

// texts gives each text of a build to names once. With workers for it, names
// is at one batch while the next one is filled.
type texts struct {
	names   *names
	source  func(dst []byte, t sym.Text) []byte
	workers int
	seen    set[sum]
	next    batch
	work    batch
	done    <-chan error // of work; nil: names is at rest
	err     error        // sticks
	held    int64        // by names when it was at rest
}

// number is the number of the text behind a handle.
func (x *texts) number(t sym.Text) uint32 {
	b := &x.next
	from := len(b.text)
	b.text = x.source(b.text, t)
	b.text = b.text[:min(len(b.text), from+MaxText)]
	id, fresh := x.seen.number(x.names.sum(b.text[from:]))
	if !fresh {
		b.text = b.text[:from]
		return id
	}
	if b.ends = append(b.ends, len(b.text)); len(b.text) >= batchSize {
		x.hand()
	}
	return id
}

// hand gives the next batch to names.
func (x *texts) hand() {
	x.wait()
	x.next, x.work = batch{x.work.text[:0], x.work.ends[:0]}, x.next
	take := func() error {
		from := 0
		for _, end := range x.work.ends {
			x.names.add(x.work.text[from:end])
			from = end
		}
		return nil
	}
	if x.workers > 1 {
		x.done = spawn(take)
	} else {
		x.rest(take())
	}
}

// wait waits until names is at rest.
func (x *texts) wait() {
	if x.done != nil {
		x.rest(<-x.done)
		x.done = nil
	}
}

func (x *texts) rest(err error) {
	n := x.names
	if err == nil && (len(n.arena) >= 1<<(32-arenaShift) || uint64(len(n.entries)) >= 1<<31) {
		err = fault.New(fault.Unsupported, "symcache, build", "more names than 32 bits can number")
	}
	x.err = cmp.Or(x.err, err)
	x.held = n.held()
}

// spawn calls f in a goroutine, which ends with it. What is thrown there would
// end the process, and becomes its error.
func spawn(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- invalid("panic: %v\n%s", p, debug.Stack())
			}
		}()
		done <- f()
	}()
	return done
}
