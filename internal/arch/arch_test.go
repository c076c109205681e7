package arch_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"symbolon/internal/arch"
)

func TestTheHouseIsInOrder(t *testing.T) {
	found, err := arch.Check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range found {
		t.Error(b)
	}
}

const rooms = `# a table
rank 0
bin:
ident: bin
metric:
rank 1
format/elf: | example.org/z
rank 2
object: format/elf
bucket:
bucket/dir: bucket
rank 3
source: object
rank 10
cmd/tool: * | example.org/term
beside
fixture:
bucket/buckettest: bucket bin
`

// house is a tree in which everything is right.
func house() map[string]string {
	return map[string]string{
		"go.mod":                  "module house\n\ngo 1.26\n",
		"internal/arch/rooms.txt": rooms,
		"internal/bin/bin.go": "// Package bin is bytes.\npackage bin\n\nimport (\n\t\"sync\"\n\t\"time\"\n)\n\nvar names = []string{\"a\"}\n\n" +
			"var pool = sync.Pool{}\n\nconst Wait time.Duration = time.Second\n\nfunc Name(i int) string {\n\tnames := append([]string{}, names...)\n\tnames[0] = \"b\"\n\treturn names[i]\n}\n",
		"internal/ident/ident.go":       "// Package ident is ids.\npackage ident\n\nimport \"house/internal/bin\"\n\nvar X = bin.Name(0)\n",
		"internal/metric/metric.go":     "// Package metric counts.\npackage metric\n\nimport \"sync\"\n\nvar mu sync.Mutex\n\nvar n int\n\nfunc Count() { n++ }\n",
		"internal/format/elf/elf.go":    "// Package elf reads.\npackage elf\n\nimport (\n\t\"house/internal/bin\"\n\t\"example.org/z/deep\"\n)\n\nvar X = bin.Name(deep.N)\n",
		"internal/object/object.go":     "// Package object opens.\npackage object\n\nimport \"house/internal/format/elf\"\n\nvar X = elf.X\n",
		"internal/object/other.go":      "package object\n\nvar Y = X\n",
		"internal/bucket/bucket.go":     "// Package bucket keeps.\npackage bucket\n\nimport \"os\"\n\nvar Name = os.Args\n",
		"internal/bucket/dir/dir.go":    "// Package dir keeps in folders.\npackage dir\n\nimport \"house/internal/bucket\"\n\nvar Name = bucket.Name\n",
		"internal/source/source.go":     "// Package source finds.\npackage source\n\nimport (\n\t\"house/internal/object\"\n\t\"house/internal/metric\"\n\t\"time\"\n)\n\nfunc F() any { metric.Count(); _ = time.Now(); return object.X }\n",
		"internal/source/in_test.go":    "package source\n\nimport (\n\t\"house/internal/fixture\"\n\t_ \"house/cmd/tool\"\n\t_ \"example.org/testonly\"\n)\n\nvar x int\n\nfunc init() { x = fixture.X }\n",
		"internal/source/testdata/x.go": "this is not Go\n",
		"internal/fixture/fixture.go":   "// Package fixture builds.\npackage fixture\n\nconst X = 1\n",
		"internal/bucket/buckettest/suite.go": "// Package buckettest is the suite.\npackage buckettest\n\nimport (\n\t\"house/internal/bin\"\n\t\"house/internal/bucket\"\n)\n\n" +
			"var Name = bucket.Name[bin.Wait]\n",
		"cmd/tool/main.go": "// Command tool does.\npackage main\n\nimport (\n\t\"house/internal/source\"\n\t\"house/internal/bucket/dir\"\n\t_ \"example.org/term\"\n)\n\nfunc main() { source.F(); _ = dir.Name }\n",
	}
}

func check(t *testing.T, files map[string]string) []arch.Breach {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found, err := arch.Check(tree)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAHouseInOrderPasses(t *testing.T) {
	for _, b := range check(t, house()) {
		t.Error(b)
	}
}

func TestEveryBreachIsFound(t *testing.T) {
	// long is a function of so many lines.
	long := func(lines int) string { return "func Long() {\n" + strings.Repeat("\t_ = 1\n", lines-2) + "}\n" }
	for name, tc := range map[string]struct {
		file, text string // replaces or adds a file
		row, with  string // or: replaces a line of the table
		want       string // file:line: rule: and what the text must hold
	}{
		"an edge that is not listed": {
			file: "internal/object/other.go", text: "package object\n\nimport \"house/internal/bucket\"\n\nvar Y = bucket.Name\n",
			want: "internal/object/other.go:3: import: object may not import bucket",
		},
		"a child that imports its sibling": {
			file: "internal/bucket/mem/mem.go", text: "// Package mem keeps.\npackage mem\n\nimport \"house/internal/bucket/dir\"\n\nvar X = dir.Name\n",
			row: "bucket/dir: bucket", with: "bucket/dir: bucket\nbucket/mem: bucket/dir",
			want: "internal/arch/rooms.txt:12: rank: bucket/mem on rank 2 imports bucket/dir, which is not below it",
		},
		"an edge between packages of one step": {
			file: "internal/table/table.go", text: "// Package table keeps tables.\npackage table\n\nimport \"house/internal/object\"\n\nvar X = object.X\n",
			row: "object: format/elf", with: "rank 2a\nobject: format/elf\ntable: object",
			want: "internal/arch/rooms.txt:11: rank: table on rank 2a imports object, which is not below it",
		},
		"an edge to a higher step": {
			file: "internal/table/table.go", text: "// Package table keeps tables.\npackage table\n\nimport \"house/internal/object\"\n\nvar X = object.X\n",
			row: "object: format/elf", with: "rank 2a\ntable: object\nrank 2b\nobject: format/elf",
			want: "internal/arch/rooms.txt:10: rank: table on rank 2a imports object, which is not below it",
		},
		"an edge that leads up": {
			file: "internal/object/other.go", text: "package object\n\nimport \"house/internal/source\"\n\nvar Y = source.F\n",
			row: "object: format/elf", with: "object: format/elf source",
			want: "internal/arch/rooms.txt:9: rank: object on rank 2 imports source, which is not below it",
		},
		"ground that imports ground without a line": {
			file: "internal/metric/metric.go", text: "// Package metric counts.\npackage metric\n\nimport \"house/internal/bin\"\n\nfunc Count() { bin.Name(0) }\n",
			want: "internal/metric/metric.go:4: import: metric may not import bin",
		},
		"ground that imports what stands on it": {
			file: "internal/metric/metric.go", text: "// Package metric counts.\npackage metric\n\nimport \"house/internal/object\"\n\nfunc Count() { _ = object.X }\n",
			row: "metric:", with: "metric: object",
			want: "internal/arch/rooms.txt:5: rank: metric on rank 0 imports object, which is not below it",
		},
		"an edge that is not used": {
			row: "source: object", with: "source: object bucket",
			want: "internal/arch/rooms.txt:13: unused import: source does not import bucket",
		},
		"an edge to nowhere": {
			row: "source: object", with: "source: object moon",
			want: "internal/arch/rooms.txt:13: import: source imports moon, which is not in the table",
		},
		"a package that is not in the table": {
			file: "internal/cellar/c.go", text: "// Package cellar is new.\npackage cellar\n",
			want: "internal/cellar/c.go:2: room: cellar is not in",
		},
		"a room that does not exist": {
			row: "source: object", with: "source: object\ncellar:",
			want: "internal/arch/rooms.txt:14: room: cellar does not exist",
		},
		"a folder that is too deep": {
			file: "internal/bucket/dir/sub/s.go", text: "// Package sub is deep.\npackage sub\n",
			row: "bucket/dir: bucket", with: "bucket/dir: bucket\nbucket/dir/sub:",
			want: "internal/bucket/dir/sub/s.go:2: depth: bucket/dir/sub",
		},
		"the network on a lower rank": {
			file: "internal/object/other.go", text: "package object\n\nimport \"net/http\"\n\nvar Y = http.Get\n",
			want: "internal/object/other.go:3: purity: object is on rank 2 and must not import net/http",
		},
		"the file system on a lower rank": {
			file: "internal/bin/more.go", text: "package bin\n\nimport \"os\"\n\nvar Y = os.Args\n",
			want: "internal/bin/more.go:3: purity: bin is on rank 0 and must not import os",
		},
		"a log on a lower rank": {
			file: "internal/format/elf/more.go", text: "package elf\n\nimport \"log/slog\"\n\nvar Y = slog.Info\n",
			want: "internal/format/elf/more.go:3: purity: format/elf is on rank 1 and must not import log/slog",
		},
		"a clock on a lower rank": {
			file: "internal/bin/more.go", text: "package bin\n\nimport clock \"time\"\n\nvar Y = clock.Now()\n",
			want: "internal/bin/more.go:5: purity: time.Now",
		},
		"a module that is not listed": {
			file: "internal/object/other.go", text: "package object\n\nimport \"example.org/z\"\n\nvar Y = z.Z\n",
			want: "internal/object/other.go:3: third party: object may not import example.org/z",
		},
		"a module that is like a listed one": {
			file: "internal/format/elf/more.go", text: "package elf\n\nimport \"example.org/zz\"\n\nvar Y = zz.Z\n",
			want: "internal/format/elf/more.go:3: third party: format/elf may not import example.org/zz",
		},
		"a module that is not used": {
			row: "source: object", with: "source: object | example.org/old",
			want: "internal/arch/rooms.txt:13: unused third party: source does not import example.org/old",
		},
		"a long file": {
			file: "internal/object/other.go", text: "package object\n\nfunc F() {}\n" + strings.Repeat("\n// text\n", 249),
			want: "internal/object/other.go:1: file size: 501 lines",
		},
		"a long function": {
			file: "internal/object/other.go", text: "package object\n\n" + long(81),
			want: "internal/object/other.go:3: function size: Long has 81 lines",
		},
		"a large package": {
			file: "internal/object/other.go", text: "package object\n\nvar table = []int{\n" + strings.Repeat("\t1,\n", 3500) + "}\n",
			want: "internal/object/object.go:2: package size: object has 3510 lines",
		},
		"many parameters": {
			file: "internal/object/other.go", text: "package object\n\nfunc F(a, b, c int, d, e string, _ bool) {}\n",
			want: "internal/object/other.go:3: parameters: 6",
		},
		"many parameters of a method in an interface": {
			file: "internal/object/other.go", text: "package object\n\ntype I interface {\n\tF(int, int, int, int, int, int)\n}\n",
			want: "internal/object/other.go:4: parameters: 6",
		},
		"a wide interface": {
			file: "internal/object/other.go", text: "package object\n\nimport \"io\"\n\ntype I interface {\n\tj\n\tio.Reader\n\tA()\n\tB()\n\tC()\n}\n\ntype j interface {\n\tD()\n\tE()\n}\n",
			want: "internal/object/other.go:5: interface size: I has 6 methods",
		},
		"no package comment": {
			file: "internal/bucket/dir/dir.go", text: "package dir\n\nimport \"house/internal/bucket\"\n\nvar Name = bucket.Name\n",
			want: "internal/bucket/dir/dir.go:1: package comment: package dir",
		},
		"a folder without a meaning": {
			file: "internal/util/u.go", text: "// Package things is things.\npackage things\n",
			row: "fixture:", with: "fixture:\nutil:",
			want: "internal/util/u.go:2: package name: \"util\"",
		},
		"a package without a meaning": {
			file: "internal/bucket/dir/dir.go", text: "// Package helpers helps.\npackage helpers\n\nimport \"house/internal/bucket\"\n\nvar Name = bucket.Name\n",
			want: "internal/bucket/dir/dir.go:2: package name: \"helpers\"",
		},
		"init": {
			file: "internal/object/other.go", text: "package object\n\nfunc init() {}\n",
			want: "internal/object/other.go:3: init: ",
		},
		"a blank import": {
			file: "internal/source/more.go", text: "package source\n\nimport _ \"image/png\"\n",
			want: "internal/source/more.go:3: blank import: \"image/png\"",
		},
		"a map of the package that grows": {
			file: "internal/object/other.go", text: "package object\n\nvar seen = map[string]int{}\n\nfunc F() {\n\tseen[\"a\"] = 1\n}\n",
			want: "internal/object/other.go:6: mutable state: seen",
		},
		"a map of the package that shrinks": {
			file: "internal/object/other.go", text: "package object\n\nvar seen = map[string]int{}\n\nfunc F() {\n\tdelete(seen, \"a\")\n}\n",
			want: "internal/object/other.go:6: mutable state: seen",
		},
		"a slice of the package that is appended to in another file": {
			file: "internal/object/other.go", text: "package object\n\nimport \"strings\"\n\nfunc F() {\n\tif strings.Contains(\"a\", \"b\") {\n\t\tX = append(X, 1)\n\t}\n}\n",
			want: "internal/object/other.go:7: mutable state: X",
		},
		"a counter of the package": {
			file: "internal/object/other.go", text: "package object\n\nvar n struct{ m int }\n\nfunc F() {\n\tn.m++\n\tfor n.m = range 3 {\n\t}\n}\n",
			want: "internal/object/other.go:6: mutable state: n",
		},
		"a lock of the package": {
			file: "internal/object/other.go", text: "package object\n\nimport \"sync\"\n\nvar lock sync.RWMutex\n",
			want: "internal/object/other.go:5: mutable state: lock is a sync.RWMutex",
		},
		"an atomic of the package": {
			file: "internal/object/other.go", text: "package object\n\nimport \"sync/atomic\"\n\nvar n [4]atomic.Int64\n",
			want: "internal/object/other.go:5: mutable state: n is a atomic.Int64",
		},
		"test data in the binary": {
			file: "internal/source/more.go", text: "package source\n\nimport \"house/internal/fixture\"\n\nvar X = fixture.X\n",
			row: "source: object", with: "source: object fixture",
			want: "internal/source/more.go:3: test import: fixture is for tests only",
		},
		"a suite in the binary": {
			file: "cmd/tool/more.go", text: "package main\n\nimport \"house/internal/bucket/buckettest\"\n\nvar X = buckettest.Name\n",
			want: "cmd/tool/more.go:3: test import: bucket/buckettest is for tests only",
		},
	} {
		files := house()
		if tc.file != "" {
			files[tc.file] = tc.text
		}
		if tc.row != "" {
			files["internal/arch/rooms.txt"] = strings.Replace(rooms, "\n"+tc.row+"\n", "\n"+tc.with+"\n", 1)
			if files["internal/arch/rooms.txt"] == rooms {
				t.Fatalf("%s: no row %q", name, tc.row)
			}
		}
		found := check(t, files)
		hit := false
		for _, b := range found {
			hit = hit || strings.HasPrefix(b.String(), tc.want)
		}
		if !hit {
			t.Errorf("%s: want %q, found %v", name, tc.want, found)
		}
	}
}

func TestWhatLooksLikeABreachAndIsNone(t *testing.T) {
	for name, text := range map[string]string{
		"a long table of constants": "package object\n\nvar table = []int{\n" + strings.Repeat("\t1,\n", 900) + "}\n",
		"a long generated file":     "// Code generated by a program. DO NOT EDIT.\n\npackage object\n\nfunc F() {\n" + strings.Repeat("\t_ = 1\n", 900) + "}\n",
		"a function of the limit":   "package object\n\nfunc F() {\n" + strings.Repeat("\t_ = 1\n", 78) + "}\n",
		"a file of the limit":       "package object\n\nfunc F() {}\n" + strings.Repeat("// text\n", 497),
		"parameters of the limit":   "package object\n\nfunc F(a, b, c int, d, e string) {}\n",
		"a package of the limit":    "package object\n\nvar table = []int{\n" + strings.Repeat("\t1,\n", 3490) + "}\n",
		"a large generated file":    "// Code generated by a program. DO NOT EDIT.\n\npackage object\n\nvar table = []int{\n" + strings.Repeat("\t1,\n", 3500) + "}\n",
		"a wide private interface":  "package object\n\ntype i interface {\n\tA()\n\tB()\n\tC()\n\tD()\n\tE()\n\tF()\n}\n",
		"a constraint":              "package object\n\ntype I interface {\n\t~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8\n}\n",
		"a local of the same name":  "package object\n\nvar n = map[int]int{}\n\nfunc F(n map[int]int) { n[1] = 2 }\n",
		"a field of the same name":  "package object\n\nvar n int\n\ntype t struct{ n int }\n\nfunc (t *t) F() { t.n = n }\n",
		"a method named init":       "package object\n\ntype t int\n\nfunc (t) init() {}\n",
		"an embedded file":          "package object\n\nimport _ \"embed\"\n\n//go:embed other.go\nvar text string\n",
		"another time":              "package object\n\ntype clock struct{}\n\nfunc (clock) Now() {}\n\nfunc F(time clock) { time.Now() }\n",
		"computed once":             "package object\n\nimport \"sync\"\n\nvar table = sync.OnceValue(func() int { return 1 })\n",
		"a lock in a struct":        "package object\n\nimport \"sync\"\n\ntype t struct{ mu sync.Mutex }\n",
	} {
		files := house()
		files["internal/object/other.go"] = text
		for _, b := range check(t, files) {
			t.Errorf("%s: %v", name, b)
		}
	}
}

func TestPackagesMayImportLowerStepsOfTheirRank(t *testing.T) {
	files := house()
	files["internal/table/table.go"] = "// Package table keeps tables.\npackage table\n\nimport \"house/internal/object\"\n\nvar X = object.X\n"
	files["internal/arch/rooms.txt"] = strings.Replace(rooms, "object: format/elf\n", "rank 2a\nobject: format/elf\nrank 2b\ntable: object\n", 1)
	for _, b := range check(t, files) {
		t.Error(b)
	}
}

func TestABadTableIsAnError(t *testing.T) {
	for name, table := range map[string]string{
		"no rank":        "bin:\n",
		"a broken rank":  "rank two\nbin:\n",
		"two steps":      "rank 2ab\nbin:\n",
		"a step alone":   "rank a\nbin:\n",
		"a broken line":  "rank 0\nbin ident\n",
		"no name":        "rank 0\n: ident\n",
		"the same twice": "rank 0\nbin:\nident:\nbin:\n",
	} {
		files := fstest.MapFS{"go.mod": {Data: []byte("module m\n")}, "internal/arch/rooms.txt": {Data: []byte(table)}}
		if _, err := arch.Check(files); err == nil || !strings.Contains(err.Error(), "rooms.txt: line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnUnreadableTreeIsAnError(t *testing.T) {
	good := func() fstest.MapFS {
		return fstest.MapFS{"go.mod": {Data: []byte("module m\n")}, "internal/arch/rooms.txt": {Data: []byte("rank 0\n")}}
	}
	for name, change := range map[string]func(fstest.MapFS){
		"no table":           func(f fstest.MapFS) { delete(f, "internal/arch/rooms.txt") },
		"no go.mod":          func(f fstest.MapFS) { delete(f, "go.mod") },
		"no name in go.mod":  func(f fstest.MapFS) { f["go.mod"].Data = []byte("go 1.26\n") },
		"a file that is bad": func(f fstest.MapFS) { f["internal/a/a.go"] = &fstest.MapFile{Data: []byte("packag a")} },
	} {
		files := good()
		change(files)
		if _, err := arch.Check(files); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if found, err := arch.Check(good()); err != nil || len(found) > 0 {
		t.Errorf("an empty tree: %v, %v", found, err)
	}
}
