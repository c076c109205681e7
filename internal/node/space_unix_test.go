//go:build unix

package node_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/node"
	"symbolon/internal/source"
	"symbolon/internal/trial"
)

// unpacking is a program whose sections unpack to some MiB.
func unpacking(t *testing.T, mib int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(make([]byte, mib<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x1000, Memsz: 0x1000})
	text := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x1100, Data: make([]byte, 0x100)})
	e.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Align: 4, Data: e.Note("GNU", 3, []byte("0123456789abcdefghij"), 4)})
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "f", Value: 0x1100, Size: 0x10, Kind: 2, Bind: 1, Section: text})
	e.Add(fixture.ELFSection{Name: ".comment", Type: 1, Data: make([]byte, 1<<20)}) // so that so much may come out
	e.Add(fixture.ELFSection{Name: ".debug_info", Type: 1, Flags: 0x800, Data: e.Compressed(1, uint64(mib)<<20, packed.Bytes())})
	return e.Bytes()
}

// Unpacked sections count in the limit of the disk cache, and the failure of a file
// that exceeds it is not cached.
func TestUnpackedSectionsCountOnTheDisk(t *testing.T) {
	const unpacked = 80
	elf := unpacking(t, unpacked)
	m := trial.Identified(t, elf, ident.TypeELF, "f", "f")
	for _, c := range []struct {
		bound string
		fits  bool
	}{{"64MiB", false}, {"200MiB", true}} {
		t.Run(c.bound, func(t *testing.T) {
			root := t.TempDir()
			at := filepath.Join(root, filepath.FromSlash(source.Layout{}.Paths(m, source.ELFCode)[0]))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, elf, 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, _, err := readConfig(fmt.Sprintf("sources: [{id: s, type: filesystem, path: %q}]\ncache: {disk: {max_bytes: %s}}\n", root, c.bound))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Data = filepath.Join(root, "data")
			n, err := node.New(cfg, nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			for range 2 {
				found, tried, err := n.Locator().Best(t.Context(), m, locate.Symbols)
				if !c.fits {
					if err == nil || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "max_bytes") || anyCached(tried) {
						t.Errorf("%v; want an internal fault that is not remembered", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := found.File(t.Context()); err != nil {
					t.Fatal(err)
				}
				if held := n.Store().Stat().Held; held < unpacked<<20 {
					t.Errorf("%d bytes are held while the file is open", held)
				}
				found.Close()
			}
			if held := n.Store().Stat().Held; held != 0 {
				t.Errorf("%d bytes are held when no file is open", held)
			}
		})
	}
}

func anyCached(tried []locate.Tried) bool {
	for _, t := range tried {
		if t.Cached && t.Fault != nil && t.Fault.Kind != fault.NotFound {
			return true
		}
	}
	return false
}
