package debugfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/format/elf"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

const corpus = "../object/testdata/corpus"

// Files of real compilers, one for each form that debug information comes in,
// answer as the peers do that want.py asked; and so do their tables.
func TestFilesOfRealCompilersAnswerAsThePeersDo(t *testing.T) {
	wants, err := filepath.Glob(filepath.Join(corpus, "*.want"))
	if err != nil || len(wants) < 45 {
		t.Fatalf("%d files, %v", len(wants), err)
	}
	for _, want := range wants {
		t.Run(strings.TrimSuffix(filepath.Base(want), ".want"), func(t *testing.T) {
			text, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			o := openCorpus(t, strings.TrimSuffix(want, ".want"))
			table, err := tableOf(o, symcache.Options{}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "#") {
					continue
				}
				line = strings.NewReplacer("\n", "", ";0 <", "; <").Replace(line) // line 0 means without a line
				at, frames, _ := strings.Cut(line, " ")
				if before, zero := strings.CutSuffix(frames, ";0"); zero {
					frames = before + ";"
				}
				addr, err := strconv.ParseUint(at, 0, 64)
				if err != nil {
					t.Fatal(err)
				}
				if got := brief(o.Lookup(nil, addr), o.AppendText); got != frames {
					t.Errorf("%s\n   is %s\nwants %s", at, got, frames)
				}
				only := openCorpus(t, strings.TrimSuffix(want, ".want"))
				if got := brief(only.Lookup(nil, addr), only.AppendText); got != frames {
					t.Errorf("%s as the only address\n   is %s\nwants %s", at, got, frames)
				}
				if got := brief(table.Lookup(nil, addr), ofTable{table}.AppendText); got != frames {
					t.Errorf("%s in the table\n   is %s\nwants %s", at, got, frames)
				}
			}
		})
	}
}

// openCorpus opens a file of the corpus with those beside it that it needs.
func openCorpus(t *testing.T, name string) *object.Object {
	t.Helper()
	if _, err := os.Stat(name + ".debug"); err == nil {
		name += ".debug"
	}
	src := func(name string) bin.Source {
		all, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return bin.Bytes(all)
	}
	f, err := debugfile.Open(src(name), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	for _, n := range o.Needs() {
		beside := filepath.Join(corpus, filepath.Base(n.Name))
		if n.Kind == object.NeedSplit {
			if _, err := os.Stat(name + ".dwp"); err == nil {
				beside = name + ".dwp"
			}
		}
		if n.Kind != object.NeedAlt && n.Kind != object.NeedSplit {
			continue
		}
		if ok, err := o.Supply(n, src(beside)); err != nil || !ok && !strings.HasSuffix(beside, ".dwp") {
			t.Fatalf("%s for %s: %v, %v", beside, n.Kind, ok, err)
		}
	}
	return o
}

// brief writes frames as want.py does: the peers do not agree on the name of
// the cold part of a function where its debug information tells it.
func brief(frames []sym.Frame, text func([]byte, sym.Text) []byte) string {
	var parts []string
	for _, f := range frames {
		file, line := string(text(nil, f.File)), ""
		if f.Line > 0 {
			line = strconv.Itoa(int(f.Line))
		}
		name := string(text(nil, f.Func))
		if line != "" {
			name = strings.TrimSuffix(name, ".cold")
		}
		parts = append(parts, fmt.Sprintf("%s;%s;%s", name, file, line))
	}
	return strings.Join(parts, " < ")
}

// The damage of a supplied file is reported as well.
func TestDamageOfASuppliedFileIsTold(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(corpus, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	alt := read("dwz-multi.alt")
	e, err := elf.Open(bin.Bytes(alt))
	if err != nil {
		t.Fatal(err)
	}
	f, err := debugfile.Open(bin.Bytes(read("dwz-multi")), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	alt[e.Section(".debug_info").Off+4] = 99 // the version of its first unit
	for _, n := range o.Needs() {
		if n.Kind == object.NeedAlt {
			if fits, err := o.Supply(n, bin.Bytes(alt)); !fits || err != nil {
				t.Fatalf("%v, %v", fits, err)
			}
		}
	}
	if d := o.Info().Damage; len(d) != 1 || d[0].Kind != "damaged units" {
		t.Errorf("damage %+v", d)
	}
}
