//go:build kit

package debugfile_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// Every debug file of the kit that is read answers in the same way itself and
// through a table, with the same names, at every border of its rows.
func TestFilesOfTheKitAnswerLikeTheirTables(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(os.Getenv("SYMBOLON_CONFORMANCE"), "formats", "files"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := debugfile.Open(bin.Bytes(all), object.Options{Columns: files%2 == 0})
		if err != nil {
			return nil // of a format that is not read
		}
		for i, o := range f.Objects() {
			files++
			sameThroughTable(t, fmt.Sprint(path, " ", i), o)
			checkUnwindAt(t, o)
		}
		return nil
	})
	if err != nil || files < 90 {
		t.Errorf("%d objects, %v", files, err)
	}
}

// sameThroughTable compares the answers of o with those of its table.
func sameThroughTable(t *testing.T, name string, o *object.Object) {
	t.Helper()
	table, err := tableOf(o, symcache.Options{}, 2)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	text := func(dst []byte, x sym.Text) []byte { dst, _ = table.AppendText(dst, x); return dst }
	wrong := 0
	for _, addr := range borders(t, o) {
		a := spell(o.Lookup(nil, addr), o.AppendText)
		b := spell(table.Lookup(nil, addr), text)
		if a != b {
			if wrong++; wrong < 4 {
				t.Errorf("%s: %#x\n  itself: %s\n  table:  %s", name, addr, a, b)
			}
		}
	}
}

// borders are the addresses around the rows of an object.
func borders(t *testing.T, o *object.Object) (addrs []uint64) {
	t.Helper()
	var last uint64
	err := o.Blocks(object.BlockOptions{Workers: 1}, func(b *sym.Block) error {
		for i, r := range b.Rows {
			if len(addrs) > 0 && r.Addr <= last {
				return fmt.Errorf("row %d at %#x follows %#x", i, r.Addr, last)
			}
			last = r.Addr
			addrs = append(addrs, r.Addr-1, r.Addr, r.Addr+1)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return addrs
}

// spell writes frames out.
func spell(frames []sym.Frame, text func([]byte, sym.Text) []byte) string {
	var b []byte
	for _, f := range frames {
		b = fmt.Appendf(b, "%s at %s:%d:%d [%x+%x] %v %s; ", text(nil, f.Func), text(nil, f.File), f.Line, f.Column, f.Entry, f.Size, f.Inlined, f.Lang)
	}
	return string(b)
}
