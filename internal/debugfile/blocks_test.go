package debugfile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// open opens a file that must be fine.
func open(t testing.TB, text []byte) *object.Object {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil {
		t.Fatalf("open: %v\n%s", err, text)
	}
	return f.Objects()[0]
}

// onDisk is a source that has no bytes in memory.
type onDisk struct{ bin.Source }

func str(o *object.Object, t sym.Text) string { return string(o.AppendText(nil, t)) }

// show writes frames as the model does.
func show(o *object.Object, frames []sym.Frame) string {
	var b strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&b, "%s %s:%d", str(o, f.Func), str(o, f.File), f.Line)
		if i+1 == len(frames) {
			fmt.Fprintf(&b, " [%x+%x]", f.Entry, f.Size)
		} else {
			b.WriteString(" < ")
		}
		if f.Inlined != (i+1 < len(frames)) {
			b.WriteString(" (wrong Inlined)")
		}
	}
	return b.String()
}

// copyBlocks collects the blocks of an object and checks their form.
func copyBlocks(t testing.TB, o *object.Object, workers int) (out []sym.Block) {
	t.Helper()
	var last *sym.Row
	err := o.Blocks(object.BlockOptions{Workers: workers}, func(b *sym.Block) error {
		c := sym.Block{Nodes: slices.Clone(b.Nodes), Rows: slices.Clone(b.Rows)}
		for i, n := range c.Nodes {
			if n.Parent >= int32(i) || n.Parent < -1 || n.Name == 0 {
				t.Fatalf("node %d of %d: %+v", i, len(c.Nodes), n)
			}
		}
		for i := range c.Rows {
			r := &c.Rows[i]
			if r.Node < -1 || int(r.Node) >= len(c.Nodes) {
				t.Fatalf("row %d has node %d of %d", i, r.Node, len(c.Nodes))
			}
			if last != nil && last.Addr >= r.Addr {
				t.Fatalf("row at %#x after one at %#x", r.Addr, last.Addr)
			}
			last = r
		}
		if len(c.Rows) == 0 && (len(out) > 0 || len(c.Nodes) == 0) {
			t.Fatalf("block %d has no rows", len(out))
		}
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// framesOf answers an address by blocks.
func framesOf(blocks []sym.Block, addr uint64) []sym.Frame {
	for b := len(blocks) - 1; b >= 0; b-- {
		for i := len(blocks[b].Rows) - 1; i >= 0; i-- {
			if blocks[b].Rows[i].Addr <= addr {
				return blocks[b].Frames(nil, i)
			}
		}
	}
	return nil
}

// nearestOf is the answer to Nearest by the roots of blocks.
func nearestOf(blocks []sym.Block, addr uint64) (found *sym.Node) {
	for _, b := range blocks {
		for i := range b.Nodes {
			if n := &b.Nodes[i]; n.Parent < 0 && n.Entry <= addr && (found == nil || n.Entry > found.Entry ||
				n.Entry == found.Entry && found.Size == 0 && n.Size > 0) {
				found = n
			}
		}
	}
	return found
}

func TestLookupAndBlocksAnswerAsTheRulesSay(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for n := range 400 {
		compareWithModel(t, randomFile(r, n%2 == 1), n)
	}
	for n := range 20 {
		compareWithModel(t, crowdedFile(r), n)
	}
}

// compareWithModel asks for all addresses of the model's space, in every way.
func compareWithModel(t *testing.T, m *modelFile, n int) {
	t.Helper()
	text := m.text().Bytes()
	want := m.answers()
	var src bin.Source = bin.Bytes(text)
	if n%4 >= 2 {
		src = onDisk{src}
	}
	f, err := debugfile.Open(src, object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	blocks := copyBlocks(t, o, 1+n%3)
	var frames []sym.Frame
	for a := range uint64(modelEnd) {
		frames = o.Lookup(frames[:0], a)
		if got := show(o, frames); got != want[a] {
			t.Fatalf("file %d, address %#x:\n got %s\nwant %s\n%s", n, a, got, want[a], text)
		}
		if got := framesOf(blocks, a); !slices.Equal(got, frames) {
			t.Fatalf("file %d, address %#x: blocks say %s\nlookup %s\n%s", n, a, show(o, got), want[a], text)
		}
		near, ok := o.Nearest(a)
		if name := m.nearest(a); ok != (name != "") || ok && str(o, near.Func) != name {
			t.Fatalf("file %d, nearest to %#x: got %s, want %s\n%s", n, a, str(o, near.Func), name, text)
		}
		if root := nearestOf(blocks, a); ok != (root != nil) || ok && (root.Name != near.Func || root.Entry != near.Entry || root.Size != near.Size) {
			t.Fatalf("file %d, nearest to %#x: %+v, by blocks %+v\n%s", n, a, near, root, text)
		}
	}
}
