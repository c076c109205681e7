package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// ProgressEvery is the time between two states of the line.
const ProgressEvery = 250 * time.Millisecond

// progressAfter is the time that work takes at least to have a line.
const progressAfter = time.Second

// Progress is a line on a terminal that shows how far some work is, with its rate and
// the time that is left. It is safe for concurrent use.
type Progress struct {
	w    io.Writer // nil: not a terminal
	noun string    // that is counted; empty: bytes
	stop func()

	mu        sync.Mutex
	label     string
	started   time.Time
	now       time.Time // of the last tick
	begun     time.Time // of the label
	isCleared bool      // since the last tick
	from      int64     // done when the label began
	done, all int64     // all is zero if it is unknown
	last      int       // characters of the line
}

// NewProgress returns the progress of work that begins now and counts noun, or bytes if
// it is empty. tick has the time, each ProgressEvery. It shows nothing if w is nil.
// Close ends it.
func NewProgress(w io.Writer, label, noun string, now time.Time, tick <-chan time.Time) *Progress {
	p := &Progress{w: w, noun: noun, label: label, started: now, now: now, begun: now, stop: func() {}}
	if w == nil {
		return p
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			case at := <-tick:
				p.draw(at)
			}
		}
	}()
	p.stop = sync.OnceFunc(func() {
		close(stopped)
		<-ended
		p.Clear()
	})
	return p
}

// Set sets how much of all is done. all is zero if it is unknown.
func (p *Progress) Set(done, all int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.all = done, all
}

// Begin sets the label, and counts from done for the rate if it is another one.
func (p *Progress) Begin(label string, done int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if label != p.label {
		p.label, p.begun, p.from, p.done, p.all = label, p.now, done, done, 0
	}
}

// Clear removes the line, so that another text can be printed. It reappears later.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCleared = true
	if p.last > 0 {
		Printf(p.w, "\r%*s\r", p.last, "")
		p.last = 0
	}
}

// Close removes the line for good.
func (p *Progress) Close() { p.stop() }

// draw replaces the line, unless a text was printed since the last call.
func (p *Progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wasCleared := p.isCleared
	p.now, p.isCleared = now, false
	if wasCleared || now.Sub(p.started) < progressAfter {
		return
	}
	text := Printable(p.text(now.Sub(p.begun)))
	Printf(p.w, "\r%-*s", p.last, text)
	p.last = len(text)
}

// text returns the state after a time.
func (p *Progress) text(elapsed time.Duration) string {
	count := Bytes
	if p.noun != "" {
		count = func(n int64) string { return Count(n, p.noun) }
	}
	made := p.done - p.from
	switch rate := float64(made) / elapsed.Seconds(); {
	case made <= 0:
		return fmt.Sprintf("%s: %v", p.label, elapsed.Round(time.Second))
	case p.all < p.done:
		return fmt.Sprintf("%s: %s, %s/s", p.label, count(p.done), count(int64(rate)))
	default:
		left := time.Duration(float64(p.all-p.done) / rate * float64(time.Second))
		return fmt.Sprintf("%s: %s of %s, %s/s, %v left", p.label, count(p.done), count(p.all), count(int64(rate)), left.Round(time.Second))
	}
}
