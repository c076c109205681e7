package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/source"
)

// admin is the folder 000Admin of a store, by path; and how often each was read.
type admin struct {
	mu    sync.Mutex
	files map[string]string
	reads map[string]int
	slow  time.Duration
}

func (a *admin) set(path, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files["000Admin/"+path] = text
}

func (a *admin) read(ctx context.Context, path string, w io.Writer) error {
	time.Sleep(a.slow)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reads == nil {
		a.reads = map[string]int{}
	}
	a.reads[path]++
	text, ok := a.files[path]
	if !ok {
		return fault.New(fault.NotFound, path, "no such file")
	}
	for len(text) > 0 { // in pieces that end anywhere
		n := min(len(text), 7)
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return ctx.Err()
}

func (a *admin) count(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reads["000Admin/"+path]
}

func store() *admin {
	return &admin{files: map[string]string{
		"000Admin/lastid.txt": "0000000002\r\n",
		"000Admin/0000000001": "\"a.pdb\\A1\",\"d:\\x\\a.pdb\"\r\nnot a line\n\"no id\"\n\"b.pdb\\\"\n\"\\B\"\n\"" + strings.Repeat("x", 5000) + "\\1\"\n",
		"000Admin/0000000002": `"b.dll\B1"`, // without an end
	}}
}

const wholeStore = "a.pdb/A1/a.pdb b.dll/B1/b.dll"

func indexOf(a *admin) *source.Index {
	shelf := source.NewShelf(1<<20, time.Now, slog.New(slog.DiscardHandler))
	return source.NewIndex(source.Config{ID: "s", HasIndex: true, Layout: source.Layout{Type: source.Symstore}}, shelf, a.read)
}

func only(t *testing.T, x *source.Index) (string, error) {
	t.Helper()
	var list []source.Candidate
	for _, path := range []string{"a.pdb/A1/a.pdb", "a.pdb/A1/a.pd_", "A.pdb/A1/A.pdb", "a.pdb/a1/a.pdb", "b.dll/B1/b.dll", "b.pdb//b.pdb", "/B/", "not a line"} {
		list = append(list, source.Candidate{Path: path})
	}
	left, err := x.Only(t.Context(), list)
	var paths []string
	for _, c := range left {
		paths = append(paths, c.Path)
	}
	return strings.Join(paths, " "), err
}

func wantListed(t *testing.T, x *source.Index, want, words string) {
	t.Helper()
	got, err := only(t, x)
	if got != want {
		t.Errorf("listed %q, want %q", got, want)
	}
	switch {
	case words == "" && err != nil:
		t.Error(err)
	case words != "" && (fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), words)):
		t.Errorf("got %v, want a miss with %q", err, words)
	}
}

func TestOnlyWhatTheIndexListsIsAskedFor(t *testing.T) {
	a := store()
	x := indexOf(a)
	for range 3 {
		wantListed(t, x, wholeStore, "")
	}
	if a.count("lastid.txt") != 1 || a.count("0000000001") != 1 || a.count("0000000002") != 1 {
		t.Errorf("read %v", a.reads)
	}
	var none *source.Index
	if got, err := only(t, none); !strings.Contains(got, "a.pd_") || err != nil {
		t.Errorf("without an index %q is left, error %v", got, err)
	}
	for _, layout := range []string{source.Native, source.TwoTiers, source.SSQP} {
		if source.NewIndex(source.Config{HasIndex: true, Layout: source.Layout{Type: layout}}, nil, nil) != nil {
			t.Errorf("layout %s has an index", layout)
		}
	}
}

func TestSourceWhoseIndexCannotBeReadHasNothing(t *testing.T) {
	for path, c := range map[string]struct{ text, words string }{
		"lastid.txt ":  {"", "no such file"},
		"lastid.txt":   {"12x", "not a number"},
		"lastid.txt  ": {"0000000000000000000001", "more than 20 bytes"},
		"lastid.txt\t": {"10001", "more than 10000 parts"},
		"0000000002 ":  {"", "no such file"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := store()
			name := strings.TrimSpace(path)
			good := a.files["000Admin/"+name]
			if a.set(name, c.text); c.text == "" {
				delete(a.files, "000Admin/"+name)
			}
			x := indexOf(a)
			wantListed(t, x, "", c.words)
			a.set(name, good)
			time.Sleep(10*time.Minute - 1)
			wantListed(t, x, "", c.words)
			if a.count("lastid.txt") != 1 {
				t.Errorf("%q: it was read again", path)
			}
			time.Sleep(2)
			wantListed(t, x, wholeStore, "")
		})
	}
}

func TestGoodIndexOutlivesAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := store()
		x := indexOf(a)
		wantListed(t, x, wholeStore, "")
		delete(a.files, "000Admin/0000000002")
		time.Sleep(24*time.Hour + 1)
		for range 3 { // also while it is read, and after that failed
			wantListed(t, x, wholeStore, "")
			synctest.Wait()
		}
		if n := a.count("lastid.txt"); n != 2 {
			t.Errorf("read %d times", n)
		}
		a.set("0000000002", "")
		time.Sleep(10*time.Minute + 1)
		wantListed(t, x, wholeStore, "")
		synctest.Wait()
		wantListed(t, x, "a.pdb/A1/a.pdb", "")
	})
}

func TestAForgottenIndexIsReadAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := store()
		shelf := source.NewShelf(1<<20, time.Now, slog.New(slog.DiscardHandler))
		x := source.NewIndex(source.Config{ID: "s", HasIndex: true, Layout: source.Layout{Type: source.Symstore}}, shelf, a.read)
		const less, more = "a.pdb/A1/a.pdb", wholeStore
		listed := a.files["000Admin/0000000002"]
		a.set("0000000002", "")
		step := func(wait time.Duration, want string, times int) {
			t.Helper()
			time.Sleep(wait)
			wantListed(t, x, want, "")
			synctest.Wait()
			if n := a.count("lastid.txt"); n != times {
				t.Errorf("read %d times, want %d", n, times)
			}
		}
		step(0, less, 1)
		a.set("0000000002", listed)
		step(time.Minute, less, 1)
		shelf.ForgetIndexes()
		step(8*time.Minute, less, 1)
		step(2*time.Minute, less, 2) // after this answer
		step(0, more, 2)
		step(12*time.Hour, more, 2)
		shelf.ForgetIndexes()
		step(0, more, 3)

		a.slow = time.Minute // one that is being read is read again too
		step(11*time.Minute, more, 3)
		shelf.ForgetIndexes()
		step(0, more, 3)
		shelf.ForgetIndexes()
		step(8*time.Minute, more, 4)
		step(7*time.Minute, more, 4)
		step(4*time.Minute, more, 5)
	})
}

func TestIndexIsReadOnceForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := store()
		a.slow = time.Second
		x := indexOf(a)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := x.Only(ctx, []source.Candidate{{Path: "p"}})
			gone <- err
		}()
		synctest.Wait()
		leave()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("who leaves gets %v", err)
		}
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { wantListed(t, x, wholeStore, "") })
		}
		group.Wait()
		if n := a.count("lastid.txt"); n != 1 {
			t.Errorf("read %d times", n)
		}
	})
}

func TestShelfIsBounded(t *testing.T) {
	a := store()
	var lines bytes.Buffer
	for i := range 20_000 { // 160 kB on a shelf
		fmt.Fprintf(&lines, "\"f%d.pdb\\1\"\n", i)
	}
	a.set("0000000002", lines.String())
	shelf := source.NewShelf(400<<10, time.Now, slog.New(slog.DiscardHandler))
	cfg := source.Config{ID: "s", HasIndex: true, Layout: source.Layout{Type: source.Symstore}}
	ask := func(x *source.Index) {
		t.Helper()
		if left, err := x.Only(t.Context(), []source.Candidate{{Path: "f19999.pdb/1/f19999.pdb"}}); err != nil || len(left) != 1 {
			t.Errorf("%v, error %v", left, err)
		}
	}
	var all []*source.Index
	for range 3 { // two of them fit
		all = append(all, source.NewIndex(cfg, shelf, a.read))
		ask(all[len(all)-1])
	}
	before := a.count("lastid.txt")
	if ask(all[2]); a.count("lastid.txt") != before {
		t.Error("the last one was read again")
	}
	if ask(all[1]); a.count("lastid.txt") != before {
		t.Error("the second was read again")
	}
	if ask(all[0]); a.count("lastid.txt") != before+1 {
		t.Error("the first is still there")
	}
	small := source.NewShelf(1000, time.Now, slog.New(slog.DiscardHandler))
	ask(source.NewIndex(cfg, small, a.read)) // has no room for it, and answers
}

func TestIndexPanicsAreFailures(t *testing.T) {
	shelf := source.NewShelf(1<<20, time.Now, slog.New(slog.DiscardHandler))
	x := source.NewIndex(source.Config{ID: "s", HasIndex: true, Layout: source.Layout{Type: source.Symstore}}, shelf,
		func(context.Context, string, io.Writer) error { panic("oh") })
	if _, err := x.Only(t.Context(), []source.Candidate{{Path: "p"}}); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("got %v", err)
	}
}
