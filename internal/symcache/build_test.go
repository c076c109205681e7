package symcache_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
	"symbolon/internal/waittest"
)

// large is a model with n functions and realistic names, nests and gaps.
func large(t testing.TB, n int) *model {
	t.Helper()
	return synthetic(n, 15)
}

func TestSameBlocksGiveSameBytes(t *testing.T) {
	m := large(t, 500)
	want := m.build(t, symcache.Options{})
	for _, procs := range []int{1, 2, 7} {
		was := runtime.GOMAXPROCS(procs)
		got := m.build(t, symcache.Options{})
		runtime.GOMAXPROCS(was)
		if !bytes.Equal(got, want) {
			t.Errorf("GOMAXPROCS=%d: table differs", procs)
		}
	}
	for workers := range 4 {
		if !bytes.Equal(m.build(t, symcache.Options{Workers: workers}), want) {
			t.Errorf("%d workers: table differs", workers)
		}
	}
	// The handles of the input do not affect the table.
	other := &model{}
	handles := make([]sym.Text, len(m.texts)+1)
	for i := len(m.texts); i > 0; i-- {
		handles[i] = other.text(m.texts[i-1])
	}
	for _, b := range m.blocks {
		c := &sym.Block{Nodes: slices.Clone(b.Nodes), Rows: slices.Clone(b.Rows)}
		for i := range c.Nodes {
			c.Nodes[i].Name, c.Nodes[i].CallFile = handles[c.Nodes[i].Name], handles[c.Nodes[i].CallFile]
		}
		for i := range c.Rows {
			c.Rows[i].File = handles[c.Rows[i].File]
		}
		other.blocks = append(other.blocks, c)
	}
	if !bytes.Equal(other.build(t, symcache.Options{}), want) {
		t.Error("other handles: table differs")
	}
}

func TestBuildersLeaveNoGoroutines(t *testing.T) {
	m := large(t, 2000)
	before := runtime.NumGoroutine()
	for _, blocks := range []int{0, 1, 1000, len(m.blocks)} {
		b := symcache.NewBuilder(symcache.Options{Workers: 2}, m.appendText)
		for _, blk := range m.blocks[:blocks] {
			if err := b.Add(blk); err != nil {
				t.Fatal(err)
			}
		}
		if blocks == len(m.blocks) {
			if err := b.Finish(io.Discard, symcache.Info{}); err != nil {
				t.Fatal(err)
			}
		}
		b.Close()
		what := fmt.Sprintf("no more than %d goroutines remain after %d blocks", before, blocks)
		waittest.Until(t, what, func() bool { return runtime.NumGoroutine() <= before })
	}
}

// scratch creates its files in a directory and fails on request.
type scratch struct {
	dir                   string
	made, removed         int
	failCreate, failWrite bool
	failRead, short       bool
}

type scratchFile struct {
	*os.File
	s *scratch
}

func (f scratchFile) Write(p []byte) (int, error) {
	if f.s.failWrite {
		return 0, io.ErrShortWrite
	}
	return f.File.Write(p)
}

func (f scratchFile) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case f.s.failRead:
		return 0, io.ErrNoProgress
	case f.s.short:
		return 0, io.EOF
	}
	return f.File.ReadAt(p, off)
}

func (s *scratch) Create() (bin.ScratchFile, error) {
	if s.failCreate {
		return nil, os.ErrPermission
	}
	f, err := os.CreateTemp(s.dir, "")
	if err != nil {
		return nil, err
	}
	s.made++
	return scratchFile{f, s}, nil
}

func (s *scratch) Remove(f bin.ScratchFile) error {
	s.removed++
	g := f.(scratchFile)
	return errors.Join(g.Close(), os.Remove(g.Name()))
}

func (s *scratch) checkEmpty(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 || s.made != s.removed {
		t.Errorf("%d files created, %d removed, %d remain", s.made, s.removed, len(left))
	}
}

// tightest returns the least memory limit with which m can be built.
func tightest(t *testing.T, m *model) int64 {
	t.Helper()
	for memory := int64(64 << 10); memory < 64<<20; memory += memory / 8 {
		err := tryBuild(m, symcache.Options{Memory: memory, Scratch: &scratch{dir: t.TempDir()}}, io.Discard)
		if err == nil {
			return memory
		}
		if fault.KindOf(err) != fault.Unsupported {
			t.Fatal(err)
		}
	}
	t.Fatal("every limit is too small")
	return 0
}

func TestSpillingDoesNotChangeTable(t *testing.T) {
	for name, m := range map[string]*model{"small": example(), "rows": synthetic(700, 150), "names": large(t, 2000)} {
		want := m.build(t, symcache.Options{})
		memory := tightest(t, m)
		most := 0
		for i, memory := range []int64{memory, memory, memory * 5 / 4, memory * 3 / 2, memory * 4} {
			s := &scratch{dir: t.TempDir()}
			var got writer
			if err := tryBuild(m, symcache.Options{Memory: memory, Scratch: s, Workers: i % 4}, &got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.b, want) {
				t.Errorf("%s with %d bytes of memory, %d workers: table differs", name, memory, i%4)
			}
			most = max(most, s.made)
			s.checkEmpty(t)
		}
		if name == "rows" && most < 2 {
			t.Errorf("only %d scratch files", most)
		}
	}
}

func TestAddSpillsRows(t *testing.T) {
	m := synthetic(700, 150)
	s := &scratch{dir: t.TempDir()}
	b := symcache.NewBuilder(symcache.Options{Memory: tightest(t, m), Scratch: s}, m.appendText)
	for _, blk := range m.blocks {
		if err := b.Add(blk); err != nil {
			t.Fatal(err)
		}
	}
	if s.made == 0 {
		t.Error("Add did not spill")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	s.checkEmpty(t)
}

func TestScratchErrorFailsBuild(t *testing.T) {
	m := synthetic(700, 150)
	memory := tightest(t, m)
	for name, s := range map[string]scratch{
		"create": {failCreate: true}, "write": {failWrite: true}, "read": {failRead: true}, "short": {short: true},
	} {
		for workers := 1; workers <= 2; workers++ {
			s := s
			s.dir = t.TempDir()
			err := tryBuild(m, symcache.Options{Memory: memory, Scratch: &s, Workers: workers}, io.Discard)
			if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "scratch file") {
				t.Errorf("%s, %d workers: %v", name, workers, err)
			}
			s.checkEmpty(t)
		}
	}
}

func tryBuild(m *model, opt symcache.Options, w io.Writer) error {
	b := symcache.NewBuilder(opt, m.appendText)
	defer b.Close()
	for _, blk := range m.blocks {
		if err := b.Add(blk); err != nil {
			return err
		}
	}
	return b.Finish(w, symcache.Info{Producer: "model"})
}

func TestNamesExceedMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := &model{}
	for i := range 2000 {
		b := make([]byte, 1000)
		for k := range b {
			b[k] = 'a' + byte(r.IntN(26))
		}
		m.blocks = append(m.blocks, &sym.Block{
			Nodes: []sym.Node{{Parent: -1, Name: m.text(string(b)), Entry: uint64(i)}},
			Rows:  []sym.Row{{Addr: uint64(i)}},
		})
	}
	s := &scratch{dir: t.TempDir()}
	if err := tryBuild(m, symcache.Options{Memory: 1 << 20, Scratch: s}, io.Discard); fault.KindOf(err) != fault.Unsupported {
		t.Error(err)
	}
	s.checkEmpty(t)
}

func TestNegativeMemoryIsUnlimited(t *testing.T) {
	s := &scratch{dir: t.TempDir()}
	if err := tryBuild(large(t, 100), symcache.Options{Memory: -1, Scratch: s}, io.Discard); err != nil || s.made > 0 {
		t.Errorf("%d scratch files, %v", s.made, err)
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestWriteErrorIsReturned(t *testing.T) {
	m := large(t, 50)
	var all counter
	if err := tryBuild(m, symcache.Options{}, &all); err != nil {
		t.Fatal(err)
	}
	size := int(all)
	for _, left := range []int{0, 350, 1000, size / 2, size - 1} {
		if err := tryBuild(m, symcache.Options{}, &failingWriter{left}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d of %d bytes: %v", left, size, err)
		}
	}
	if err := tryBuild(m, symcache.Options{}, &failingWriter{size}); err != nil {
		t.Error(err)
	}
}

func TestInvalidBlocksAreRejected(t *testing.T) {
	m := &model{}
	name := m.text("f")
	root := sym.Node{Parent: -1, Name: name}
	deep := []sym.Node{root}
	for i := range symcache.MaxDepth + 1 {
		deep = append(deep, sym.Node{Parent: int32(i), Name: name})
	}
	for what, blk := range map[string]*sym.Block{
		"row before the one before": {Nodes: []sym.Node{root}, Rows: []sym.Row{{Addr: 30}, {Addr: 29}}},
		"two rows at one address":   {Nodes: []sym.Node{root}, Rows: []sym.Row{{Addr: 30}, {Addr: 30}}},
		"row before the last block": {Nodes: []sym.Node{root}, Rows: []sym.Row{{Addr: 20}}},
		"row of no node":            {Nodes: []sym.Node{root}, Rows: []sym.Row{{Addr: 30, Node: 1}}},
		"row of a negative node":    {Nodes: []sym.Node{root}, Rows: []sym.Row{{Addr: 30, Node: -2}}},
		"parent after its call":     {Nodes: []sym.Node{root, {Parent: 1, Name: name}}},
		"negative parent":           {Nodes: []sym.Node{{Parent: -2, Name: name}}},
		"no name":                   {Nodes: []sym.Node{{Parent: -1}}},
		"no language that there is": {Nodes: []sym.Node{{Parent: -1, Name: name, Lang: sym.Langs}}},
		"too deep":                  {Nodes: deep},
	} {
		b := symcache.NewBuilder(symcache.Options{}, m.appendText)
		if err := b.Add(&sym.Block{Nodes: []sym.Node{root}, Rows: []sym.Row{{Addr: 20}}}); err != nil {
			t.Fatal(err)
		}
		err := b.Add(blk)
		if err == nil {
			t.Errorf("%s: got no error", what)
		}
		if again := b.Finish(io.Discard, symcache.Info{}); again == nil || again != err {
			t.Errorf("%s: Finish returned %v", what, again)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	b := symcache.NewBuilder(symcache.Options{}, m.appendText)
	if err := b.Add(&sym.Block{Nodes: deep[:symcache.MaxDepth+1], Rows: []sym.Row{{Node: symcache.MaxDepth}}}); err != nil {
		t.Errorf("at the limit of depth: %v", err)
	}
}

func TestBuilderAfterFinish(t *testing.T) {
	m := example()
	b := symcache.NewBuilder(symcache.Options{}, m.appendText)
	var out bytes.Buffer
	if err := b.Finish(&out, symcache.Info{}); err != nil {
		t.Fatalf("without blocks: %v", err)
	}
	table := open(t, out.Bytes())
	if frames := table.Lookup(nil, 0x1000); len(frames) != 0 {
		t.Error("empty table has frames")
	}
	if _, ok := table.Nearest(1<<64 - 1); ok {
		t.Error("empty table has a function")
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
	if b.Add(m.blocks[0]) == nil || b.Finish(&out, symcache.Info{}) == nil {
		t.Error("Add succeeded after Finish")
	}
	b = symcache.NewBuilder(symcache.Options{}, m.appendText)
	b.Close()
	if b.Add(m.blocks[0]) == nil {
		t.Error("Add succeeded after Close")
	}
}

func TestInfo(t *testing.T) {
	id, err := ident.ParseDebugID("12345678-9abc-def0-1234-56789abcdef0-a")
	if err != nil {
		t.Fatal(err)
	}
	m := example()
	for _, want := range []symcache.Info{
		{},
		{
			Module: ident.Module{
				Type: ident.TypePE, Arch: ident.ArchARM64, CodeFile: `C:\größe.exe`, CodeID: "5ef1", DebugFile: "größe.pdb",
				DebugID: id, DebugIDText: "as it was",
			},
			Producer: "link 14", InputSize: 1 << 40, InputHash: [32]byte{1, 31: 2}, BadRecords: 1 << 33,
		},
		{Module: ident.Module{Type: ident.TypeWasm, DebugID: ident.NewPDB20(0x5ef12345, 3)}},
	} {
		b := symcache.NewBuilder(symcache.Options{}, m.appendText)
		if err := b.Add(m.blocks[0]); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := b.Finish(&out, want); err != nil {
			t.Fatal(err)
		}
		table := open(t, out.Bytes())
		want.Flags = symcache.HasLines | symcache.HasInlines
		if got := table.Info(); got != want {
			t.Errorf("info %+v, want %+v", got, want)
		}
		if table.Size() != int64(out.Len()) {
			t.Errorf("size %d, want %d", table.Size(), out.Len())
		}
	}
	b := symcache.NewBuilder(symcache.Options{}, m.appendText)
	if err := b.Finish(io.Discard, symcache.Info{Producer: strings.Repeat("x", 1<<16+1)}); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("producer of 65 KiB: %v", err)
	}
}

func TestFlags(t *testing.T) {
	m := &model{}
	f, file := m.text("f"), m.text("f.c")
	for _, c := range []struct {
		node sym.Node
		row  sym.Row
		want string
	}{
		{sym.Node{Name: f}, sym.Row{}, "none"},
		{sym.Node{Name: f}, sym.Row{Line: 1}, "lines"},
		{sym.Node{Name: f}, sym.Row{File: file}, "lines"},
		{sym.Node{Name: f}, sym.Row{Column: 1}, "columns"},
		{sym.Node{Name: f, CallLine: 1}, sym.Row{Node: 1}, "inlines"},
		{sym.Node{Name: f, CallColumn: 1}, sym.Row{Node: 1, File: file}, "lines inlines columns"},
	} {
		m.blocks = []*sym.Block{{Nodes: []sym.Node{{Parent: -1, Name: f}, c.node}, Rows: []sym.Row{c.row}}}
		if got := open(t, m.build(t, symcache.Options{})).Info().Flags.String(); got != c.want {
			t.Errorf("flags %q, want %q", got, c.want)
		}
	}
}

// Each name is requested once, even if many nodes have it.
func TestNamesAreRequestedOnce(t *testing.T) {
	m := large(t, 100)
	asked := map[sym.Text]int{}
	b := symcache.NewBuilder(symcache.Options{}, func(dst []byte, h sym.Text) []byte {
		asked[h]++
		return m.appendText(dst, h)
	})
	defer b.Close()
	for _, blk := range m.blocks {
		if err := b.Add(blk); err != nil {
			t.Fatal(err)
		}
	}
	for h, n := range asked {
		if n != 1 {
			t.Fatalf("handle %d was requested %d times", h, n)
		}
	}
}
