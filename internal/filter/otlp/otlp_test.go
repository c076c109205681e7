package otlp_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/otlp"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
)

// message makes the messages of the tests.
var message = filtertest.Message

const (
	app  = "c0ffee00c0ffee00"
	hash = "6c3376bc183b0a4994bc0b2c2c9d8b05"
)

// The strings of all dictionaries of the tests.
const (
	textFile = iota + 1
	textName
	textGNU
	textGo
	textHash
	textType
	textApp
	textGoID
	textCount
)

// texts are the strings of all dictionaries.
var texts = []any{
	5, "", 5, "app", 5, "named", 5, "process.executable.build_id.gnu", 5, "process.executable.build_id.go",
	5, "process.executable.build_id.htlhash", 5, "profile.frame.type", 5, app, 5, "a/b/c/d",
}

// The attributes of all dictionaries of the tests.
const (
	isGNU = iota + 1
	isNative
	isKernel
	isJVM
	isRust
	isGo
	isHash
)

var attributes = []any{
	6, "",
	6, message(1, textGNU, 2, message(8, textApp)),
	6, message(1, textType, 2, message(1, "native")),
	6, message(1, textType, 2, message(1, "kernel")),
	6, message(1, textType, 2, message(1, "jvm")),
	6, message(1, textType, 2, message(1, "rust"), 3, textName),
	6, message(1, textGo, 2, message(8, textGoID)),
	6, message(1, textHash, 2, message(1, hash)),
}

// resource is a resource with a profile.
var resource = message(1, message(1, message(1, "host.name", 2, message(1, "den"))), 2, message(1, message(1, "profiler"), 2, message(1, message(1, 1, 2, 2), 9, "kept")))

// profiles returns a message whose dictionary has fields.
func profiles(fields ...any) []byte {
	fields = slices.Concat(fields, texts, attributes)
	return message(1, resource, 2, message(fields...), 99, "kept")
}

// sample has locations of each kind.
func sample() []byte {
	return profiles(
		98, "kept",
		1, "",
		1, message(1, 0x1000, 2, 0x9000, 3, 0x1000, 4, textFile, 5, []byte{isGNU}, 97, "kept"),
		2, "",
		2, message(1, 1, 2, 0x1010, 4, []byte{isNative}, 96, "kept"),
		2, message(1, 1, 2, 0x1020, 4, isRust),
		2, message(1, 1, 2, 0x1030, 3, message(1, 1, 2, 7)),
		2, message(1, 1, 2, 0x1010, 4, []byte{isJVM}),
		3, "",
		3, message(1, textName, 95, "kept"),
		2, message(1, 1, 2, 0x1040),
		7, message(1, []byte{1, 2, 3, 4}),
	)
}

var names = filtertest.Names{app: {
	0x1010: {
		{Function: []byte("inner(int)"), Raw: []byte("_Z5inneri"), File: []byte("a.h"), Line: 3, Column: 9, Inlined: true},
		{Function: []byte("outer()"), Raw: []byte("_Z5outerv"), File: []byte("a.c"), Line: 41},
	},
	0x1030: {{Function: []byte("other()")}},
	0x1040: {{Function: []byte("outer()"), Raw: []byte("_Z5outerv"), File: []byte("a.c"), Line: 42}},
}}

func rewrite(t testing.TB, run *filter.Run, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := otlp.Rewrite(context.Background(), run, data, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// dictionary returns the elements of the tables by their number.
func dictionary(data []byte) map[int][][]byte {
	tables := map[int][][]byte{}
	for r := wire.NewReader(data); r.Next(); {
		if r.Tag.Num() == 2 {
			for d := wire.NewReader(r.Bytes); d.Next(); {
				tables[d.Tag.Num()] = append(tables[d.Tag.Num()], d.Bytes)
			}
		}
	}
	return tables
}

// dump returns the lines of all locations as text.
func dump(data []byte) string {
	tables := dictionary(data)
	numbers := func(msg []byte) map[int]uint64 {
		m := map[int]uint64{}
		for r := wire.NewReader(msg); r.Next(); {
			m[r.Tag.Num()] = r.Value
		}
		return m
	}
	var b strings.Builder
	for i, l := range tables[2] {
		fmt.Fprintf(&b, "%d:", i)
		for r := wire.NewReader(l); r.Next(); {
			if r.Tag.Num() == 3 {
				line := numbers(r.Bytes)
				f := numbers(tables[3][line[1]])
				fmt.Fprintf(&b, " %s [%s] %s:%d:%d", tables[5][f[1]], tables[5][f[2]], tables[5][f[3]], line[2], line[3])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLocationsOfMachineCodeGetLines(t *testing.T) {
	const want = `0:
1: inner(int) [_Z5inneri] a.h:3:9 outer() [_Z5outerv] a.c:41:0
2:
3: named [] :7:0
4:
5: outer() [_Z5outerv] a.c:42:0
`
	if got := dump(rewrite(t, &filter.Run{Names: names}, sample())); got != want {
		t.Errorf("the locations are\n%s, want\n%s", got, want)
	}
}

func TestForceReplacesLines(t *testing.T) {
	got := dump(rewrite(t, &filter.Run{Names: names, Force: true}, sample()))
	if !strings.Contains(got, "3: other() [other()] :0:0\n") || !strings.Contains(got, "4:\n") {
		t.Errorf("the locations are\n%s, want a name in number 3 and none in number 4", got)
	}
}

// Tables keep their elements in their order, with the bytes of those that get no lines.
func TestEverythingElseIsCopied(t *testing.T) {
	in := sample()
	out := rewrite(t, &filter.Run{Names: names}, in)
	if !bytes.HasPrefix(out, message(1, resource)) || !bytes.HasSuffix(out, message(99, "kept")) {
		t.Error("the fields beside of the dictionary have changed")
	}
	before, after := dictionary(in), dictionary(out)
	for num, list := range before {
		for i, msg := range list {
			if got := after[num][i]; num == 2 && (i == 1 || i == 5) {
				if !bytes.HasPrefix(got, msg) {
					t.Errorf("location %d is %q, want it to begin with %q", i, got, msg)
				}
			} else if !bytes.Equal(got, msg) {
				t.Errorf("element %d of table %d is %q, want %q", i, num, got, msg)
			}
		}
	}
}

func TestASecondRunChangesNothing(t *testing.T) {
	once := rewrite(t, &filter.Run{Names: names}, sample())
	if twice := rewrite(t, &filter.Run{Names: names}, once); !bytes.Equal(twice, once) {
		t.Errorf("got %q, want %q", twice, once)
	}
}

func TestMessageWithoutNamesIsCopied(t *testing.T) {
	long := append(message(1, resource), 2<<3|2, 0x80, 0x00) // a length in two bytes
	for name, data := range map[string][]byte{"no dictionary": message(1, resource), "empty": nil, "padded": long, "unknown": sample()} {
		if got := rewrite(t, &filter.Run{Names: filtertest.Names{}}, data); !bytes.Equal(got, data) {
			t.Errorf("%s: got %q, want %q", name, got, data)
		}
	}
}

func TestFirstElementOfATableMeansNone(t *testing.T) {
	data := message(2, message(1, "", 1, message(2, 0x9000), 2, message(1, 1, 2, 0x1010)))
	run := &filter.Run{Names: names, Known: map[string]ident.Module{"": {CodeID: app, Type: ident.TypeELF}}}
	if got := rewrite(t, run, data); !bytes.Equal(got, data) {
		t.Errorf("got %q, want %q", got, data)
	}
	data = message(2, message(1, "", 1, message(4, 1), 2, message(1, 1, 2, 0x1010), 5, "", 5, "app"))
	run.Known = map[string]ident.Module{"app": {CodeID: app, Type: ident.TypeELF}}
	tables := dictionary(rewrite(t, run, data))
	if len(tables[3]) != 3 || len(tables[3][0]) > 0 {
		t.Errorf("the functions are %q, want an empty one and two others", tables[3])
	}
}

// record is Names that keep the query and know nothing.
type record struct{ query filter.Query }

func (r *record) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	r.query = filter.Query{Modules: slices.Clone(q.Modules), Addresses: slices.Clone(q.Addresses)}
	return filtertest.Names{}.Look(ctx, q)
}

// asked returns the query for a mapping and a location in it.
func asked(t *testing.T, mapping, location []byte) filter.Query {
	t.Helper()
	var r record
	rewrite(t, &filter.Run{Names: &r}, profiles(1, "", 1, append(message(4, textFile), mapping...), 2, append(message(1, 1), location...)))
	return r.query
}

func TestAddressesFollowTheirMapping(t *testing.T) {
	for _, c := range []struct {
		name              string
		mapping, location []byte
		space             filter.Space
		addr              uint64
	}{
		{"of the profiler", message(1, 0x1000, 2, 0x9000, 3, 0x640, 5, isGNU), message(2, 0x1973), filter.Linked, 0x1973},
		{"without a place", message(5, isGNU), message(2, 0x7f0000001973), filter.Linked, 0x7f0000001973},
		{"of a program that cannot be moved", message(1, 0x401000, 2, 0x409000, 3, 0x1000, 5, isGNU), message(2, 0x401973), filter.Fixed, 0x401973},
		{"of a library with gaps", message(1, 0x31000, 2, 0x39000, 3, 0x1000, 5, isGNU), message(2, 0x31973), filter.Linked, 0x31973},
		{"of a process", message(1, 0x7f0000001000, 2, 0x7f0000009000, 3, 0x640, 5, isGNU), message(2, 0x7f0000001973), filter.Offset, 0x973 + 0x640},
		{"in a kernel", message(5, isGNU), message(2, 0x1973, 4, isKernel), filter.Relative, 0x1973},
		{"of a kernel", message(5, isGNU), message(2, uint64(0xffffffff81001973), 4, isKernel), filter.Fixed, 0xffffffff81001973},
	} {
		got := asked(t, c.mapping, c.location).Addresses
		if want := []filter.Address{{Space: c.space, Addr: c.addr}}; !slices.Equal(got, want) {
			t.Errorf("%s: looked up %+v, want %+v", c.name, got, want)
		}
	}
}

func TestAddressOutsideOfItsMappingIsLeft(t *testing.T) {
	mapping := message(1, 0x1000, 2, 0x2000, 5, isGNU)
	for _, addr := range []int{0xfff, 0x2000} {
		if q := asked(t, mapping, message(2, addr)); len(q.Addresses) > 0 {
			t.Errorf("looked up %+v, want nothing", q.Addresses)
		}
	}
}

func TestModulesHaveTheIdentifiersOfTheirAttributes(t *testing.T) {
	for _, c := range []struct {
		name       string
		mapping    []byte
		code, file string
	}{
		{"GNU build id", message(5, isGNU), app, ""},
		{"several", message(5, []byte{isHash, isGNU, isGo}), app, hash},
		{"hash", message(5, isHash), "", hash},
	} {
		q := asked(t, c.mapping, message(2, 0x1973))
		if len(q.Modules) != 1 {
			t.Errorf("%s: looked up %d modules, want one", c.name, len(q.Modules))
			continue
		}
		m := q.Modules[0]
		if file := m.FileID.Hex(); m.CodeID.String() != c.code || c.file != "" && file != c.file || c.file == "" && !m.FileID.IsZero() {
			t.Errorf("%s: looked up %q, %q, want %q, %q", c.name, m.CodeID, file, c.code, c.file)
		}
	}
}

// The linker of Go wrote both build ids of this test.
func TestGoBuildIDLeadsToTheGNUBuildID(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Skip("this system has programs of another format")
	}
	defer f.Close()
	note := func(section string) []byte {
		data, err := f.Section(section).Data()
		if err != nil || len(data) < 16 {
			t.Fatalf("%s: %v", section, err)
		}
		return data[16:][:f.ByteOrder.Uint32(data[4:])] // after the name, which has four bytes
	}
	texts := slices.Concat(texts, []any{5, note(".note.go.buildid")})
	var r record
	rewrite(t, &filter.Run{Names: &r}, message(2, message(slices.Concat(texts, []any{
		6, "", 6, message(1, textGo, 2, message(8, textCount)), 1, "", 1, message(5, 1), 2, message(1, 1, 2, 0x1973),
	})...)))
	if want := hex.EncodeToString(note(".note.gnu.build-id")); len(r.query.Modules) != 1 || r.query.Modules[0].CodeID.String() != want {
		t.Errorf("looked up %v, want %s", r.query.Modules, want)
	}
}

func TestModuleWithoutIdentifiersIsReported(t *testing.T) {
	run := &filter.Run{Names: names}
	rewrite(t, run, profiles(1, "", 1, message(4, textFile), 2, message(1, 1, 2, 0x1973)))
	var report bytes.Buffer
	run.Report(&report)
	if !strings.Contains(report.String(), "app: no names for 1 frame: the input does not identify the file") {
		t.Errorf("the report is %q, want the module and the reason", &report)
	}
}

// The dictionaries of earlier versions, and damaged ones, are not understood.
func TestOtherLayoutsAreRejected(t *testing.T) {
	for name, data := range map[string][]byte{
		"attributes with keys as text": profiles(6, message(1, "process.executable.build_id.gnu", 2, message(1, app))),
		"a table of numbers":           profiles(3, 7),
		"a dictionary that is a text":  message(1, resource, 2, "text"),
		"lines that are numbers":       profiles(2, message(1, 1, 2, 0x1010, 3, 1)),
		"another mapping":              profiles(1, message(1, "0x1000")),
		"two dictionaries":             append(sample(), sample()...),
		"a number":                     message(1, 7),
		"the beginning":                sample()[:len(sample())-20],
	} {
		var out bytes.Buffer
		err := otlp.Rewrite(t.Context(), &filter.Run{Names: names}, data, &out)
		if kind := fault.KindOf(err); kind != fault.Unsupported && kind != fault.Malformed || out.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes, want an error and none", name, err, out.Len())
		}
	}
}

func TestMessagesThatExceedALimitAreRejected(t *testing.T) {
	locations := func(n int) []byte {
		tables := []any{1, "", 1, message(5, isGNU)}
		for i := range n {
			tables = append(tables, 2, message(1, 1, 2, i))
		}
		return profiles(tables...)
	}
	long := map[uint64][]filter.Frame{}
	for i := range 40 {
		long[uint64(i)] = []filter.Frame{{Function: bytes.Repeat([]byte{byte(i)}, 1<<20)}}
	}
	for _, c := range []struct {
		want string
		data []byte
	}{
		{"more than 100000 mappings", message(2, bytes.Repeat(message(1, ""), 100_001))},
		{"more than 4194304 strings and attributes", message(2, bytes.Repeat(message(5, ""), 1<<22+1))},
		{"more than 262144 locations without names", locations(1<<18 + 1)},
		{"more than 4194304 uses of attributes", profiles(1, "", 1, message(5, isGNU), 2, message(1, 1, 4, bytes.Repeat([]byte{isNative}, 1<<22)))},
		{"more than 33554432 bytes of names", locations(len(long))},
	} {
		err := otlp.Rewrite(t.Context(), &filter.Run{Names: filtertest.Names{app: long}}, c.data, &bytes.Buffer{})
		if err == nil || !strings.HasSuffix(err.Error(), ": unsupported: "+c.want) {
			t.Errorf("the error is %v, want %s", err, c.want)
		}
	}
}

// If each use read the attribute again, this would take hours.
func TestRepeatedAttributesAreReadOnce(t *testing.T) {
	long := append(bytes.Repeat(message(1, textGNU), 1<<20), message(1, textType, 2, message(1, "native"))...)
	uses := bytes.Repeat([]byte{isHash + 1}, 1<<20)
	data := message(2, message(slices.Concat(texts, attributes, []any{
		6, long, 1, "", 1, message(5, isGNU), 2, "", 2, message(1, 1, 2, 0x1010, 4, uses),
	})...))
	if got := dump(rewrite(t, &filter.Run{Names: names}, data)); !strings.Contains(got, "1: inner(int)") {
		t.Errorf("the locations are\n%s, want a name in number 1", got)
	}
}

// Many mappings can refer to the same text.
func TestLongTextsAreIgnored(t *testing.T) {
	var r record
	rewrite(t, &filter.Run{Names: &r}, message(2, message(slices.Concat(texts, attributes, []any{
		5, strings.Repeat("x", 1025), 1, "", 1, message(4, textCount, 5, isGNU), 2, message(1, 1, 2, 0x1973),
	})...)))
	if len(r.query.Modules) != 1 || r.query.Modules[0].CodeFile != "unknown" {
		t.Errorf("looked up %v, want a file without a name", r.query.Modules)
	}
}

func TestCanceledRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := otlp.Rewrite(ctx, &filter.Run{Names: names}, sample(), io.Discard); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestProfilesAreRecognized(t *testing.T) {
	long := message(1, message(2, message(2, message(2, strings.Repeat("x", 1000)))))
	for name, c := range map[string]struct {
		head []byte
		want bool
	}{
		"profiles":        {sample(), true},
		"their beginning": {long[:100], true},
		"text":            {[]byte("\n\n\n\n\n\n\n\n\n\n\n\n\n\n"), false},
		"pprof":           {message(1, message(1, 1, 2, 2), 2, message(1, []byte{1})), false},
		"nothing":         {nil, false},
		"JSON":            {[]byte(`{"resourceProfiles":[]}`), false},
	} {
		if got := otlp.Is(c.head); got != c.want {
			t.Errorf("%s: recognized %v, want %v", name, got, c.want)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add(sample())
	f.Add(profiles(1, "", 1, message(1, 0x7f0000001000, 5, []byte{isGo, isHash}), 2, message(1, 1, 2, 0x7f0000001010, 4, isKernel)))
	f.Fuzz(func(t *testing.T, data []byte) {
		otlp.Is(data)
		var once, twice bytes.Buffer
		if otlp.Rewrite(context.Background(), &filter.Run{Names: names}, data, &once) != nil {
			return
		}
		if err := otlp.Rewrite(context.Background(), &filter.Run{Names: names}, once.Bytes(), &twice); err != nil {
			t.Fatalf("a second run failed: %v", err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("a second run wrote\n%q, want\n%q", twice.Bytes(), once.Bytes())
		}
	})
}
