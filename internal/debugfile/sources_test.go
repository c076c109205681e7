package debugfile_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// bundleOf is a bundle with these files and a manifest.
func bundleOf(t *testing.T, manifest string, files map[string]string) []byte {
	t.Helper()
	b := bytes.NewBufferString("SYSB\x02\x00\x00\x00")
	z := zip.NewWriter(b)
	add := func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		add(name, text)
	}
	add("manifest.json", manifest)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sourced checks the sources of an object by path: the text, or a link after "->".
// Lookups are concurrent.
func sourced(t *testing.T, o *object.Object, want map[string]string) {
	t.Helper()
	var group sync.WaitGroup
	for range 4 {
		for path, wanted := range want {
			group.Go(func() {
				text, link, ok := o.SourceByPath(path)
				got := string(text)
				if link != "" {
					got += "->" + link
				}
				if !ok {
					got = "nothing"
				}
				if got != wanted {
					t.Errorf("%s: got %.100q, want %q", path, got, wanted)
				}
			})
		}
	}
	group.Wait()
}

func TestSourcesOfABundleAreFoundByTheirPaths(t *testing.T) {
	o := open(t, bundleOf(t, `{"files":{
		"files/a": {"type":"source","path":"/src/a.c","url":null,"headers":null},
		"files/b": {"type":"source","path":"C:\\src\\b.cc"},
		"files/c": {"type":"source","path":"/src/lib/../c.c"},
		"files/empty": {"type":"source","path":"/src/empty.h"}},
		"source_links": {"/gone/*": "https://host/*"}, "other": null, "arch": "x86_64", "object_name": null,
		"debug_id": "dd247e48-0d04-823d-3fa4-4664a0e46575", "code_id": "487E24dd040d"}`,
		map[string]string{"files/a": "int a;", "files/b": "int b;", "files/c": "int c;", "files/empty": ""}))
	sourced(t, o, map[string]string{
		"/src/a.c": "int a;", "/src/x/../a.c": "int a;", "/src//a.c": "int a;", "/src/A.c": "nothing", "src/a.c": "nothing",
		"/src/c.c": "nothing", "/src/lib/../c.c": "int c;", // as it was written, and only so
		`C:\src\b.cc`: "int b;", "C:/src/./b.cc": "int b;", "/src/empty.h": "", "/gone/x.c": "->https://host/x.c", "": "nothing",
	})
	info := o.Info()
	if m := info.Module; m.DebugID.String() != "dd247e48-0d04-823d-3fa4-4664a0e46575" || m.CodeID != "487e24dd040d" || m.Arch != ident.ArchX86_64 {
		t.Errorf("module %+v", m)
	}
	if info.Features != object.HasSources || info.BadRecords != 0 {
		t.Errorf("%+v", info)
	}
	nulls := bundleOf(t, `{"files":{"files/a":null},"source_links":null,"debug_id":null,"code_id":null}`, map[string]string{"files/a": "x"})
	if id := open(t, nulls).Info().Module; id != (ident.Module{}) {
		t.Errorf("module %+v", id)
	}
}

func TestASourceThatIsTooLargeIsNone(t *testing.T) {
	text := bundleOf(t, `{"files":{"files/a": {"path":"/a"},"files/b": {"path":"/b"}}}`, map[string]string{"files/a": strings.Repeat("x", 64<<20+1), "files/b": "b"})
	o := open(t, text)
	sourced(t, o, map[string]string{"/a": "nothing", "/b": "b"})
	if o.Info().BadRecords != 1 {
		t.Errorf("%+v", o.Info())
	}
}

func TestSourcesOfLineProgramsAreFoundByTheirPaths(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	unit := func(version int, dir string, files, sources []string) *fixture.ProgramUnit {
		return &fixture.ProgramUnit{Version: version, Lang: modelC, Dir: dir, Files: files, Sources: sources}
	}
	if open(t, p.Bytes()).Info().Features&object.HasSources != 0 {
		t.Error("a program without sources has some")
	}
	p.Units = append(p.Units,
		unit(4, "/old", []string{"a.c"}, nil),
		unit(5, "/d/x", []string{"../a.c", "b.h", "/abs/c.h"}, []string{"int a;", "int b;", "int c;"}),
		unit(5, "/d", []string{"a.c", "none.h"}, []string{"another a", ""}),
		unit(5, `C:\w`, []string{`src\d.c`}, []string{"int d;"}))
	o := open(t, p.Bytes())
	sourced(t, o, map[string]string{
		"/d/a.c": "int a;", "/d/y/../a.c": "int a;", "/d/x/b.h": "int b;", "/abs/c.h": "int c;", `C:\w\src\d.c`: "int d;", "C:/w/src/d.c": "int d;",
		"/d/none.h": "nothing", "/old/a.c": "nothing", "b.h": "nothing",
	})
	if o.Info().Features&object.HasSources == 0 {
		t.Error("it has no sources")
	}
}

// In a file in which all units name one large line program it is read once.
func TestSourcesOfASharedLineProgramAreReadOnce(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	var names, texts []string
	for i := range 20_000 {
		names, texts = append(names, fmt.Sprintf("%d.c", i)), append(texts, "x")
	}
	p.Units = append(p.Units, &fixture.ProgramUnit{Version: 5, Lang: modelC, Dir: "/d", Files: names, Sources: texts})
	for range 20_000 {
		p.Units = append(p.Units, &fixture.ProgramUnit{Version: 5, Lang: modelC, Dir: "/e", SameLines: true})
	}
	o := open(t, p.Bytes())
	took, _ := cost(func() { sourced(t, o, map[string]string{"/d/19999.c": "x", "/e/1.c": "nothing"}) })
	if took.Seconds() > 5 {
		t.Errorf("it took %v", took)
	}
}

func TestSourcesOfPortablePDBsAreFoundByTheirPaths(t *testing.T) {
	p := portable(t)
	links := `{"documents":{"C:\\src\\*":"https://host/*","/src/*":"https://other/*"}}`
	p.Row(fixture.PPDBCustom, "2hh", 1<<5|7, p.GUID(fixture.PPDBLink), p.Blob([]byte(links)))
	sourced(t, open(t, p.Bytes()), map[string]string{
		"/src/a.cs": strings.Repeat("class A {}\n", 100), "/src/q/../a.cs": strings.Repeat("class A {}\n", 100),
		`C:\src\b.cs`: "class B {}", "C:/src/b.cs": "class B {}",
		`C:\src\c.cs`: "->https://host/c.cs", "/src/c.cs": "->https://other/c.cs", "gone": "nothing",
	})
}

func TestLinksOfPDBsAreFoundByTheirPaths(t *testing.T) {
	p := fixture.SamplePDB()
	p.Named = [][2]string{{"sourcelink", `{"documents":{"C:\\src\\*":"https://host/*"}}`}}
	sourced(t, open(t, p.Bytes()), map[string]string{`c:\src\one.cc`: "->https://host/one.cc", "one.cc": "nothing"})
	sourced(t, open(t, []byte(module+"FUNC 10 10 0 f\n")), map[string]string{"/a.c": "nothing"})
}
