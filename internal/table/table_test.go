package table_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/locate"
	"symbolon/internal/metric"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
	"symbolon/internal/trial/rig"
)

const (
	id   = rig.ID
	file = "MODULE Linux x86_64 " + id + " a.so\nFILE 0 a.c\nINLINE_ORIGIN 0 inner\n" +
		"FUNC 1000 40 0 outer\nINLINE 0 7 0 0 1010 10\n1000 10 5 0\n1010 10 50 0\n1020 20 6 0\nPUBLIC 2000 0 tail\n"
)

// bench is a node below the engine, on a directory that outlives it.
type bench struct {
	dir    string
	asked  atomic.Int32
	answer http.HandlerFunc
	url    string
	table  table.Config
}

func newBench(t *testing.T, answer http.HandlerFunc) *bench {
	b := &bench{dir: t.TempDir(), answer: answer}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked.Add(1)
		b.answer(w, r)
	}))
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

// start opens the directory; the function it returns closes it again.
func (b *bench) start(t *testing.T) (*table.Tables, func()) {
	t.Helper()
	l := rig.Open(t, rig.Options{Dir: b.dir, Sources: rig.Web(t, source.Config{}, b.url), Table: b.table})
	return l.Tables, l.Close
}

func serve(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func text(h *table.Handle, t sym.Text) string {
	out, _ := h.AppendText(nil, t)
	return string(out)
}

// answers tells what a handle says about all addresses around the file.
func answers(h *table.Handle) []string {
	var out []string
	for addr := uint64(0xff0); addr < 0x2020; addr += 4 {
		line := fmt.Sprintf("%x:", addr)
		for _, f := range h.Lookup(nil, addr) {
			line += fmt.Sprintf(" %s %s:%d @%x+%x %v", text(h, f.Func), text(h, f.File), f.Line, f.Entry, f.Size, f.Inlined)
		}
		if f, ok := h.Nearest(addr); ok {
			line += fmt.Sprintf(" near %s", text(h, f.Func))
		}
		out = append(out, line)
	}
	return out
}

func TestFileAndItsTableGiveTheSameAnswers(t *testing.T) {
	b := newBench(t, serve(file))
	tables, stop := b.start(t)
	h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h == nil {
		t.Fatalf("nothing found: %v", report.Fault)
	}
	if report.Hit || len(report.Tried) != 1 || !report.Tried[0].Chosen {
		t.Errorf("report of a first answer: %+v", report)
	}
	direct := answers(h)
	if !strings.Contains(strings.Join(direct, "\n"), "inner a.c:50") {
		t.Fatalf("the file does not answer: %v", direct)
	}
	if n := entries(t, b.dir, "symcache"); n != 0 {
		t.Errorf("%d tables were built before the answer was out", n)
	}
	h.Close()
	stop() // waits for no build that did not begin, so ask until it is there
	tables, stop = b.start(t)
	defer stop()
	prefetch(t, tables)
	h, report = tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h == nil || !report.Hit {
		t.Fatalf("report of a second answer: %+v", report)
	}
	defer h.Close()
	if got := answers(h); !reflect.DeepEqual(got, direct) {
		t.Errorf("the table answers differently:\n%v\nthan the file:\n%v", got, direct)
	}
	if n := entries(t, b.dir, "symcache"); n != 1 {
		t.Errorf("%d tables on disk", n)
	}
}

func prefetch(t *testing.T, tables *table.Tables) {
	t.Helper()
	if r, err := tables.Prefetch(t.Context(), rig.Module("a.so")); err != nil || r.Fault != nil {
		t.Fatal(err, r.Fault)
	}
}

// entries counts the files of a kind in the disk cache.
func entries(t *testing.T, dir, kind string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "cache", kind), func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStoredTableNeedsNoFetch(t *testing.T) {
	b := newBench(t, serve(file))
	tables, stop := b.start(t)
	prefetch(t, tables)
	stop()
	asked := b.asked.Load()
	tables, stop = b.start(t)
	defer stop()
	h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h == nil || !report.Hit {
		t.Fatalf("report: %+v", report)
	}
	h.Close()
	if n := b.asked.Load(); n != asked || asked != 1 {
		t.Errorf("asked %d times, then %d", asked, n)
	}
}

func TestMoreNamesCountAsMemory(t *testing.T) {
	b := newBench(t, serve(file))
	var costs [2]int64 // by ManyNames
	for i := range costs {
		b.table.ManyNames = i == 1
		tables, stop := b.start(t)
		prefetch(t, tables)
		before := metric.CacheBytes.Value("memory")
		tables.Clear()
		costs[i] = before - metric.CacheBytes.Value("memory")
		stop()
	}
	if few, many := float64(costs[0])/1.5, float64(costs[1])/2.5; few < 100 || math.Abs(few-many) > 2 {
		t.Errorf("an open table takes %d bytes, and %d with more names", costs[0], costs[1])
	}
}

// ofOtherFile is the table of a file whose functions have other names.
func ofOtherFile(t *testing.T) []byte {
	t.Helper()
	text := strings.NewReplacer("outer", "after", "inner", "under").Replace(file)
	f, err := debugfile.Open(bin.Bytes([]byte(text)), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := table.Build(t.Context(), &out, f.Objects()[0], symcache.Options{}, table.Input{Size: int64(len(text)), Hash: [32]byte{1}}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDamagedTableIsBuiltAgain(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"all of it":     func(whole []byte) []byte { return bytes.Repeat([]byte{0x5a}, len(whole)) },
		"its last byte": func(whole []byte) []byte { whole[len(whole)-1] ^= 1; return whole },
		"its middle":    func(whole []byte) []byte { whole[len(whole)/2] ^= 0x80; return whole },
		"another file's": func(whole []byte) []byte {
			other := ofOtherFile(t)
			if len(other) != len(whole) {
				t.Fatalf("%d bytes and %d", len(other), len(whole))
			}
			return other
		},
	} {
		t.Run(name, func(t *testing.T) { damagedTable(t, damage) })
	}
}

func damagedTable(t *testing.T, damage func([]byte) []byte) {
	b := newBench(t, serve(file))
	tables, stop := b.start(t)
	prefetch(t, tables)
	stop()
	err := filepath.WalkDir(filepath.Join(b.dir, "cache", "symcache"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, damage(whole), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	tables, stop = b.start(t)
	defer stop()
	h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h == nil {
		t.Fatalf("report: %+v", report)
	}
	defer h.Close()
	if f := h.Lookup(nil, 0x1018); len(f) != 2 || text(h, f[0].Func) != "inner" {
		t.Errorf("frames: %v", f)
	}
	if n := b.asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestWorkGoesOnAfterTheDeadlineOfAModule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tier := openChangingFiles(t, 0)
		f := c.files.list[0]
		ctx, cancel := context.WithTimeout(t.Context(), 1)
		defer cancel()
		h, report := c.tables.Symbols(ctx, f.module(), locate.SymFirst)
		if h != nil || !report.Late || fault.KindOf(report.Fault) != fault.Timeout {
			t.Fatalf("report: %+v", report)
		}
		time.Sleep(time.Minute)
		if n := tier.tables(); n != 1 {
			t.Errorf("got %d tables without another request, want 1", n)
		}
		c.ask(f, locate.SymFirst, time.Hour)
		if f.fetches != 1 {
			t.Errorf("got %d fetches, want 1", f.fetches)
		}
	})
}

func TestFileWithOtherIdentityDoesNotReplaceKnownFile(t *testing.T) {
	b := newBench(t, serve(file))
	tables, stop := b.start(t)
	prefetch(t, tables)
	stop()
	if err := os.RemoveAll(filepath.Join(b.dir, "cache", "symcache")); err != nil {
		t.Fatal(err)
	}
	b.answer = serve(strings.Replace(file, id, "11111111111111111111111111111111A", 1))
	tables, stop = b.start(t)
	defer stop()
	h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h != nil || fault.KindOf(report.Fault) != fault.Malformed || !strings.HasPrefix(report.Fault.Detail, fault.Mismatch) {
		t.Fatalf("report: %+v", report)
	}
	b.answer = serve(file)
	tables.ClearNegatives()
	if h, report = tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst); h == nil {
		t.Fatalf("what was known is lost: %+v", report)
	}
	h.Close()
}

func TestManyFirstRequestsMakeOneDownloadAndOneTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tier := openChangingFiles(t, 0)
		f := c.files.list[0]
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { c.ask(f, locate.SymFirst, time.Hour) })
		}
		wg.Wait()
		time.Sleep(time.Minute)
		if f.fetches != 1 {
			t.Errorf("got %d fetches, want 1", f.fetches)
		}
		if n := tier.tables(); n != 1 {
			t.Errorf("got %d tables, want 1", n)
		}
	})
}

func TestFileLargerThanMemoryIsFetchedOnce(t *testing.T) {
	b := newBench(t, serve(file+strings.Repeat("FILE 1 "+strings.Repeat("x", 1000)+"\n", 100)))
	b.table = table.Config{MaxBytes: 64 << 10} // less than the file
	tables, stop := b.start(t)
	defer stop()
	var open []*table.Handle
	for range 3 {
		h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if h == nil {
			t.Fatalf("report: %+v", report)
		}
		open = append(open, h)
	}
	for _, h := range open {
		h.Close()
	}
	if n := b.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestReportHasReasonOfMissingModule(t *testing.T) {
	b := newBench(t, http.NotFound)
	tables, stop := b.start(t)
	defer stop()
	h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h != nil || fault.KindOf(report.Fault) != fault.NotFound || len(report.Tried) == 0 || report.Late {
		t.Errorf("report: %+v", report)
	}
}

func TestClearDropsWorkInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tier := openChangingFiles(t, 0)
		m := c.files.list[0].module()
		opened := make(chan *table.Handle)
		go func() {
			h, _ := c.tables.Symbols(t.Context(), m, locate.SymFirst)
			opened <- h
		}()
		synctest.Wait() // it is being fetched
		c.tables.Clear()
		h := <-opened
		if h == nil {
			t.Fatal("got no handle for a request before Clear")
		}
		if known, _, _ := c.tables.Ready(m, locate.SymFirst); known != nil {
			t.Error("a file that was being fetched is open after Clear")
		}
		c.tables.Clear()
		h.Close() // queues its table
		time.Sleep(time.Minute)
		if n := tier.tables(); n != 1 {
			t.Errorf("got %d tables, want 1", n)
		}
		if known, _, _ := c.tables.Ready(m, locate.SymFirst); known != nil {
			t.Error("a table that was being built is open after Clear")
		}
	})
}
