//go:build !race

package load_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// The bounds of a request, as documented.
const (
	mostFrames  = 2_000_000
	mostModules = 100_000
)

// frames is a request for n frames in one stack, of n functions of a file or,
// if it has none, of no module.
func frames(f trial.Sym, n int) []byte {
	b := make([]byte, 0, 16*n+200)
	b = fmt.Appendf(b, `{"memoryMap":[["%s","%s"]],"stacks":[[`, f.File, f.ID)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if f.Funcs == 0 {
			b = append(b, "[-1,"...)
			b = strconv.AppendInt(b, int64(i%10), 10)
		} else {
			b = append(b, "[0,"...)
			b = strconv.AppendUint(b, f.Offset(i*7919%f.Funcs), 10)
		}
		b = append(b, ']')
	}
	return append(b, "]]}"...)
}

// modules is a request for one frame in each of n modules.
func modules(n int) []byte {
	b := []byte(`{"memoryMap":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `["lib%d.so","%032X0"]`, i, i+1)
	}
	b = append(b, `],"stacks":[[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "[%d,1]", i)
	}
	return append(b, "]]}"...)
}

// frameDepth is how many brackets are open within a frame of an answer.
const frameDepth = 6

// largest asks for as much as a request may, and checks by how much the memory grew at
// most.
func largest(t *testing.T, s *trial.Server, c *client, body []byte, read func(io.Reader) error) {
	t.Helper()
	idle, _ := s.Memory()
	s.ForgetPeak()
	status, took, err := c.post(bytes.NewReader(body), read)
	if status != http.StatusOK || err != nil {
		t.Errorf("%d, %v", status, err)
	}
	_, peak := s.Memory()
	t.Logf("body of %d MB answered after %v, %d MiB idle and %d MiB more at most", len(body)/1e6, took, idle>>20, (peak-idle)>>20)
	if peak-idle > 200<<20 {
		t.Errorf("it took %d MiB over the %d MiB that were there before", (peak-idle)>>20, idle>>20)
	}
}

func TestTheLargestRequestIsAnsweredAndOneMoreIsNot(t *testing.T) {
	skipIfShort(t)
	f := trial.NewSym(1, 50_000)
	up := trial.NewUpstream(t)
	up.Do(f.Path(), f)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{"log.level=warn"}})
	c := newClient(t, s)
	small := func(i int) string { return string(frames(f, 30+i)) }
	c.asking(t, 1, 0, nil, small)
	waittest.Until(t, "the table is built", func() bool { return s.Metric("table_builds_total", `outcome="built"`) == 1 })

	n := 0
	if largest(t, s, c, frames(f, mostFrames), countFrames(&n)); n != mostFrames {
		t.Errorf("the answer has %d frames", n)
	}
	for text, body := range map[string][]byte{
		"please limit number of frames in a single request to <= 2000000": frames(trial.Sym{}, mostFrames+1),
		"please limit number of modules in a single request to <= 100000": modules(mostModules + 1),
	} {
		status, took, err := c.post(bytes.NewReader(body), wantText(t, text))
		if status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d, %v", text, status, err)
		}
		t.Logf("one more is refused after %v", took)
	}
	c.asking(t, 10, 0, nil, small)
}

func TestTheMostModulesAreAnswered(t *testing.T) {
	skipIfShort(t)
	s := trial.Start(t, trial.Options{Set: []string{"log.level=warn"}})
	a := &answer{depth: frameDepth}
	if largest(t, s, newClient(t, s), modules(mostModules), a.read); a.frames != mostModules {
		t.Errorf("the answer has %d frames: %.300s", a.frames, a.around.Bytes())
	}
}

// wantText demands that an answer has a text in it.
func wantText(t *testing.T, text string) func(io.Reader) error {
	return func(r io.Reader) error {
		got, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if !strings.Contains(string(got), text) {
			t.Errorf("got %.300s, want %s", got, text)
		}
		return err
	}
}

// Five of the largest requests at once take what there is one after the other.
func TestManyLargeRequestsStayWithinTheCeiling(t *testing.T) {
	skipIfShort(t)
	s := trial.Start(t, trial.Options{Set: []string{"memory=256MiB", "log.level=warn"}})
	c := newClient(t, s)
	body := frames(trial.Sym{}, mostFrames)
	var served, later atomic.Int64
	parallel(5, func(int) {
		n := 0
		switch status, _, err := c.post(bytes.NewReader(body), countFrames(&n)); {
		case status == http.StatusOK && err == nil && n == mostFrames:
			served.Add(1)
		case status == http.StatusServiceUnavailable:
			later.Add(1)
		default:
			t.Errorf("%d, %d frames, %v", status, n, err)
		}
	})
	_, peak := s.Memory()
	t.Logf("%d served, %d told to come back; %d MiB at most", served.Load(), later.Load(), peak>>20)
	if peak > 256<<20 || served.Load() == 0 {
		t.Errorf("the memory was %d MiB at most with %d served; 256 MiB are what it has", peak>>20, served.Load())
	}
}
