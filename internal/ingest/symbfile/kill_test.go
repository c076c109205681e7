package symbfile_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"symbolon/internal/bucket/dir"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/proctest"
)

// TestMain is also the process that is killed: it uploads one generation after the
// other, in four parts, and prints the number of each.
func TestMain(m *testing.M) {
	proctest.Main(m, func(folder string, first int) {
		b, err := dir.Open(folder)
		if err != nil {
			panic(err)
		}
		n := open(proctest.Child{}, b, symbfile.Config{})
		for g := first; ; g++ {
			for k, body := range generation(g) {
				if _, err := n.take(of(fmt.Sprint("g", g), k, 4), body); err != nil {
					panic(err)
				}
			}
			fmt.Println(g)
		}
	})
}

func generation(g int) [][]byte { return split(fmt.Sprint("generation", g), 4) }

func TestAKilledProcessLeavesAWholeFile(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b, err := dir.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	n := open(t, b, symbfile.Config{})
	done, held := 0, 0
	for range 25 {
		done = proctest.Kill(t, at, done+1)
		got := must(t, n.published(symbfile.Ranges))
		if !slices.Equal(got, must(t, joined(generation(done)))) && !slices.Equal(got, must(t, joined(generation(done+1)))) {
			t.Fatalf("after generation %d another file is published: %.200q", done, got)
		}
		if i, err := n.Info(t.Context(), fileID, symbfile.Ranges); err != nil || i.Records != int64(len(got)) {
			t.Fatalf("%+v, %v", i, err)
		}
		held += len(n.waiting(fmt.Sprint("g", done+1), 4))
		// The upload that was broken off goes on.
		for k, body := range generation(done + 1) {
			if _, err := n.take(of(fmt.Sprint("g", done+1), k, 4), body); err != nil {
				t.Fatal(err)
			}
		}
		done++
		if got := n.published(symbfile.Ranges); !bytes.Equal(got, joined(generation(done))) {
			t.Fatal("an upload that went on was not published")
		}
	}
	t.Logf("%d generations, %d parts were waiting when a process died", done, held)
	if err := b.Sweep(t.Context(), ingest.Incoming, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at + "/" + ingest.Incoming); err == nil {
		t.Error("after a sweep something is left")
	}
}
