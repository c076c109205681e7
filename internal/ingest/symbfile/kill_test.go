package symbfile_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"symbolon/internal/bucket/dir"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

const childFolder = "SYMBOLON_INGEST_TEST_FOLDER"

// TestMain is also the process that is killed: it uploads one generation after the
// other, in four parts, and prints the number of each.
func TestMain(m *testing.M) {
	if at := os.Getenv(childFolder); at != "" {
		b, err := dir.Open(at)
		if err != nil {
			panic(err)
		}
		first, err := strconv.Atoi(os.Getenv(childFolder + "_FIRST"))
		if err != nil {
			panic(err)
		}
		n := open(&child{}, b, symbfile.Config{})
		for g := first; ; g++ {
			for k, body := range generation(g) {
				if _, err := n.take(of(fmt.Sprint("g", g), k, 4), body); err != nil {
					panic(err)
				}
			}
			fmt.Println(g)
		}
	}
	os.Exit(m.Run())
}

// child is what the helpers need of a test.
type child struct{ testing.TB }

func (child) Helper()        {}
func (child) Cleanup(func()) {}

func generation(g int) [][]byte { return split(fmt.Sprint("generation", g), 4) }

func TestAKilledProcessLeavesAWholeFile(t *testing.T) {
	at := t.TempDir()
	b, err := dir.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	n := open(t, b, symbfile.Config{})
	done, held := 0, 0
	for range 25 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childFolder+"="+at, childFolder+"_FIRST="+strconv.Itoa(done+1))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("the process has said nothing")
		}
		time.AfterFunc(rand.N(60*time.Millisecond), func() { cmd.Process.Kill() })
		for more := true; more; more = lines.Scan() {
			if done, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Wait() // it was killed
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
