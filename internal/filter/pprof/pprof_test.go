package pprof_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/pprof"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
)

// message makes the messages of the tests.
var message = filtertest.Message

const app = "c0ffee00c0ffee00"

// sample is a profile whose tables are out of order and whose ids have gaps:
// location 70 is in two functions, 5 is unknown, 6 has a name.
func sample() []byte {
	return message(
		1, message(1, 1, 2, 2),
		2, message(1, []byte{70, 5}, 2, []byte{1}),
		4, message(1, 70, 2, 1000, 3, 0x2010, 5, 1, 99, "kept"),
		4, message(1, 5, 2, 1000, 3, 0x2020),
		6, "", 6, "samples", 6, "count", 6, "/bin/app", 6, app, 6, "named",
		4, message(1, 6, 2, 1000, 3, 0x2030, 4, message(1, 1)),
		5, message(1, 1, 2, 5),
		5, message(1, uint64(math.MaxUint64), 2, 5),
		3, message(1, 3, 5, 3),
		3, message(1, 1000, 2, 0x2000, 3, 0x3000, 4, 0x1000, 5, 3, 6, 4, 98, "kept"),
		4, message(1, 71, 2, 1000, 3, 0x2040),
		97, "kept",
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
	if err := pprof.Rewrite(context.Background(), run, data, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// dump returns the mappings and locations of a profile as text.
func dump(data []byte) string {
	var texts []string
	functions := map[uint64]string{}
	var b strings.Builder
	numbers := func(msg []byte) map[int]uint64 {
		m := map[int]uint64{}
		for r := wire.NewReader(msg); r.Next(); {
			m[r.Tag.Num()] = r.Value
		}
		return m
	}
	for r := wire.NewReader(data); r.Next(); {
		if r.Tag.Num() == 6 {
			texts = append(texts, string(r.Bytes))
		}
	}
	for r := wire.NewReader(data); r.Next(); {
		if r.Tag.Num() == 5 {
			f := numbers(r.Bytes)
			functions[f[1]] = fmt.Sprintf("%d %s [%s] %s", f[1], texts[f[2]], texts[f[3]], texts[f[4]])
		}
	}
	for r := wire.NewReader(data); r.Next(); {
		m := numbers(r.Bytes)
		switch r.Tag.Num() {
		case 3:
			fmt.Fprintf(&b, "mapping %d flags %d %d %d %d\n", m[1], m[7], m[8], m[9], m[10])
		case 4:
			fmt.Fprintf(&b, "location %d folded %d\n", m[1], m[5])
			for l := wire.NewReader(r.Bytes); l.Next(); {
				if l.Tag.Num() == 4 {
					line := numbers(l.Bytes)
					fmt.Fprintf(&b, "  %s:%d:%d\n", functions[line[1]], line[2], line[3])
				}
			}
		}
	}
	return b.String()
}

func TestLocationsGetLines(t *testing.T) {
	got := dump(rewrite(t, &filter.Run{Names: names}, sample()))
	want := `location 70 folded 0
  2 inner(int) [_Z5inneri] a.h:3:9
  3 outer() [_Z5outerv] a.c:41:0
location 5 folded 0
location 6 folded 0
  1 named [] :0:0
mapping 3 flags 0 0 0 0
mapping 1000 flags 1 1 1 1
location 71 folded 0
  3 outer() [_Z5outerv] a.c:42:0
`
	if got != want {
		t.Errorf("profile is\n%s\nwant\n%s", got, want)
	}
}

func TestForceReplacesLines(t *testing.T) {
	got := dump(rewrite(t, &filter.Run{Names: names, Force: true}, sample()))
	if want := "location 6 folded 0\n  4 other() [other()] :0:0\n"; !strings.Contains(got, want) {
		t.Errorf("profile is\n%s\nwithout\n%s", got, want)
	}
}

func TestUnknownFieldsAreCopied(t *testing.T) {
	got := rewrite(t, &filter.Run{Names: names}, sample())
	for _, field := range [][]byte{
		message(97, "kept"),
		message(1, 70, 2, 1000, 3, 0x2010, 99, "kept"),
		message(1, 1000, 2, 0x2000, 3, 0x3000, 4, 0x1000, 5, 3, 6, 4, 98, "kept", 7, 1),
		message(1, message(1, 1, 2, 2), 2, message(1, []byte{70, 5}, 2, []byte{1})),
	} {
		if !bytes.Contains(got, field) {
			t.Errorf("%q is missing in %q", field, got)
		}
	}
}

func TestSecondRunChangesNothing(t *testing.T) {
	once := rewrite(t, &filter.Run{Names: names}, sample())
	if twice := rewrite(t, &filter.Run{Names: names}, once); !bytes.Equal(once, twice) {
		t.Errorf("a second run wrote\n%q, want\n%q", twice, once)
	}
}

// missing returns the report of a run.
func missing(run *filter.Run) string {
	var text strings.Builder
	run.Report(&text)
	return text.String()
}

func TestProfileWithoutNamesIsCopied(t *testing.T) {
	run := &filter.Run{Names: filtertest.Names{}}
	if got := rewrite(t, run, sample()); !bytes.Equal(got, sample()) {
		t.Errorf("profile is\n%q, want\n%q", got, sample())
	}
	if got := missing(run); got != "symbolon: app: no names for 3 frames: no source has the file\n" {
		t.Errorf("the report is %q, want 3 frames of app", got)
	}
}

func TestAllAddressesInAFileWithoutAnIDAreReported(t *testing.T) {
	run := &filter.Run{Names: names}
	rewrite(t, run, bytes.ReplaceAll(sample(), []byte(app), []byte("?c0ffee00c0ffee?")))
	if got, want := missing(run), "symbolon: /bin/app: no names for 3 frames: the input does not identify the file\n"; got != want {
		t.Errorf("the report is %q, want %q", got, want)
	}
}

func TestDamagedRecordIsCopied(t *testing.T) {
	bad := message(4, []byte{1 << 3, 9, 2 << 3}, 3, []byte{1 << 3})
	got := rewrite(t, &filter.Run{Names: names}, append(bad, sample()...))
	if !bytes.HasPrefix(got, bad) || !strings.Contains(dump(got), "outer()") {
		t.Errorf("profile is %q, want the damaged records, and names", got)
	}
}

func TestDamagedProfileIsRejected(t *testing.T) {
	data := sample()
	err := pprof.Rewrite(context.Background(), &filter.Run{Names: names}, data[:len(data)-1], &bytes.Buffer{})
	if want := fmt.Sprintf("read profile: protobuf: malformed: field at byte %d: unexpected EOF", len(data)-len(message(97, "kept"))); fault.KindOf(err) != fault.Malformed || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// record is Names that keep the query and know nothing.
type record struct{ query filter.Query }

func (r *record) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	r.query = filter.Query{Modules: slices.Clone(q.Modules), Addresses: slices.Clone(q.Addresses)}
	return filtertest.Names{}.Look(ctx, q)
}

// one returns a profile of one location, and of a mapping that has a file and a
// build id.
func one(file, id string, address uint64, m ...any) []byte {
	return message(
		6, "", 6, file, 6, id,
		3, message(append(m, 1, 1, 5, 1, 6, 2)...),
		4, message(1, 1, 2, 1, 3, address),
	)
}

func TestAddressesFollowTheirMapping(t *testing.T) {
	const uuid = "4C4C44F6-5555-3144-A1B1-6B1D2E0C5A1F"
	for name, c := range map[string]struct {
		data  []byte
		space filter.Space
		addr  uint64
	}{
		"ELF":                    {one("/lib/a.so", app, 0x7f0000001234, 2, 0x7f0000001000, 3, 0x7f0000002000, 4, 0x3000), filter.Offset, 0x3234},
		"mapping of everything":  {one("/lib/a.so", app, 0x401234), filter.Linked, 0x401234},
		"mapping without an end": {one("/lib/a.so", app, 0x401234, 3, uint64(math.MaxUint64)), filter.Linked, 0x401234},
		"ELF at zero":            {one("/lib/a.so", app, 0x1234, 3, 0x2000), filter.Offset, 0x1234},
		"Windows":                {one(`C:\a.DLL`, app, 0x180001234, 2, 0x180000000, 3, 0x180002000), filter.Relative, 0x1234},
		"macOS by name":          {one("/usr/lib/a.dylib", app, 0x180001234, 2, 0x180000000, 3, 0x180002000), filter.Relative, 0x1234},
		"macOS by id":            {one("/bin/app", uuid, 0x180001234, 2, 0x180001000, 3, 0x180002000, 4, 0x1000), filter.Relative, 0x1234},
		"kernel":                 {one("[kernel.kallsyms]_text", app, 0xffffffff81001234, 2, uint64(0xffffffff81000000), 3, uint64(math.MaxUint64)), filter.Fixed, 0xffffffff81001234},
	} {
		var r record
		rewrite(t, &filter.Run{Names: &r}, c.data)
		if want := []filter.Address{{Space: c.space, Addr: c.addr}}; !slices.Equal(r.query.Addresses, want) {
			t.Errorf("%s: looked up %+v, want %+v", name, r.query.Addresses, want)
		}
	}
}

func TestAddressOutsideOfItsMappingIsLeft(t *testing.T) {
	var r record
	rewrite(t, &filter.Run{Names: &r}, one("/lib/a.so", app, 0xfff, 2, 0x1000, 3, 0x2000))
	rewrite(t, &filter.Run{Names: &r}, one("/lib/a.so", app, 0x2000, 2, 0x1000, 3, 0x2000))
	rewrite(t, &filter.Run{Names: &r}, message(6, "", 6, app, 4, message(1, 1, 2, 7, 3, 0x1000)))
	if len(r.query.Addresses) > 0 {
		t.Errorf("looked up %+v, want nothing", r.query.Addresses)
	}
}

func TestLocationWithoutMappingIsInTheOnlyOne(t *testing.T) {
	data := message(6, "", 6, "a", 6, app, 3, message(1, 9, 2, 0x1000, 5, 1, 6, 2), 4, message(1, 1, 3, 0x1010))
	var r record
	rewrite(t, &filter.Run{Names: &r}, data)
	if len(r.query.Addresses) != 1 {
		t.Errorf("looked up %+v, want an address", r.query.Addresses)
	}
	r = record{}
	rewrite(t, &filter.Run{Names: &r}, append(data, message(3, message(1, 10))...))
	if len(r.query.Addresses) != 0 {
		t.Errorf("of two mappings: looked up %+v, want nothing", r.query.Addresses)
	}
}

func TestModulesHaveTheIdentifiersOfTheirBuildID(t *testing.T) {
	for name, c := range map[string]struct {
		file, id    string
		code, debug string
	}{
		"GNU build id":       {"/lib/a.so", "8f2a1b3c4d5e6f708192a3b4c5d6e7f801020304", "8f2a1b3c4d5e6f708192a3b4c5d6e7f801020304", "3C1B2A8F5E4D706F8192A3B4C5D6E7F80"},
		"quoted":             {"/lib/a.so", `"8F2A1B3C4D5E6F70"`, "8f2a1b3c4d5e6f70", "3C1B2A8F5E4D706F00000000000000000"},
		"UUID":               {"/bin/app", "4C4C44F6-5555-3144-A1B1-6B1D2E0C5A1F", "4c4c44f655553144a1b16b1d2e0c5a1f", "4C4C44F655553144A1B16B1D2E0C5A1F0"},
		"UUID in hex digits": {"/usr/lib/a.dylib", "4c4c44f655553144a1b16b1d2e0c5a1f", "4c4c44f655553144a1b16b1d2e0c5a1f", "4C4C44F655553144A1B16B1D2E0C5A1F0"},
		"GUID and age":       {`C:\a.dll`, "44E4EC8C2F41492B9369D6B9A059577C2", "", "44E4EC8C2F41492B9369D6B9A059577C2"},
	} {
		var r record
		rewrite(t, &filter.Run{Names: &r}, one(c.file, c.id, 0x1000, 2, 0x1000))
		if len(r.query.Modules) != 1 {
			t.Errorf("%s: looked up %+v, want a module", name, r.query.Modules)
			continue
		}
		m := r.query.Modules[0]
		if m.CodeID.String() != c.code || m.DebugID.Breakpad() != c.debug {
			t.Errorf("%s: looked up %q, %q, want %q, %q", name, m.CodeID, m.DebugID.Breakpad(), c.code, c.debug)
		}
	}
	for _, id := range []string{"", "aB3_x/Qq-0/r1/s2", `C:\a.exe2026-11-23 10:00:00`} {
		var r record
		run := &filter.Run{Names: &r}
		rewrite(t, run, one("/bin/app", id, 0x1000, 2, 0x1000))
		if len(r.query.Modules) > 0 || !strings.Contains(missing(run), "does not identify the file") {
			t.Errorf("%q: looked up %+v, want a reason", id, r.query.Modules)
		}
	}
}

func TestFilesOfOneModuleAreAskedOnce(t *testing.T) {
	data := message(6, "", 6, "/lib/a.so", 6, "/lib/a.so (deleted)", 6, app,
		3, message(1, 1, 2, 0x1000, 5, 1, 6, 3), 4, message(1, 1, 2, 1, 3, 0x1000),
		3, message(1, 2, 2, 0x9000, 5, 2, 6, 3), 4, message(1, 2, 2, 2, 3, 0x9000),
	)
	var r record
	rewrite(t, &filter.Run{Names: &r}, data)
	if len(r.query.Modules) != 1 || len(r.query.Addresses) != 2 {
		t.Errorf("looked up %+v in %+v, want two addresses in one module", r.query.Addresses, r.query.Modules)
	}
}

func TestModuleMayBeNamedByTheUser(t *testing.T) {
	known := ident.Module{CodeID: app, Type: ident.TypePE}
	var r record
	rewrite(t, &filter.Run{Names: &r, Known: map[string]ident.Module{"app": known}}, one("/bin/app", "", 0x1010, 2, 0x1000))
	if want := []filter.Address{{Space: filter.Relative, Addr: 0x10}}; !slices.Equal(r.query.Addresses, want) || r.query.Modules[0].CodeID != known.CodeID {
		t.Errorf("looked up %+v in %+v, want %+v in %+v", r.query.Addresses, r.query.Modules, want, known)
	}
}

func TestProfileIsRecognized(t *testing.T) {
	for name, c := range map[string]struct {
		head []byte
		want bool
	}{
		"profile":       {sample(), true},
		"its beginning": {sample()[:50], true},
		"no sample":     {message(11, message(1, 1), 9, 5), true},
		"unknown field": {message(1, message(1, 1), 99, "text"), true},
		"OTLP":          {message(1, message(1, message(1, "a"), 2, message(2, "b")), 2, message(5, "")), false},
		"Perfetto":      {message(1, message(8, 5, 10, 1), 1, message(1, message(1, 0))), false},
		"text":          {[]byte("\n  ==1==ERROR: AddressSanitizer"), false},
		"nothing":       {nil, false},
		"JSON":          {[]byte(`{"a":1}`), false},
	} {
		if got := pprof.Is(c.head); got != c.want {
			t.Errorf("%s: recognized %v, want %v", name, got, c.want)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add(sample())
	f.Add(one("/lib/a.so", app, 0x1010, 2, 0x1000, 4, 0x1000))
	f.Fuzz(func(t *testing.T, data []byte) {
		pprof.Is(data)
		var once, twice bytes.Buffer
		if pprof.Rewrite(context.Background(), &filter.Run{Names: names}, data, &once) != nil {
			return
		}
		if err := pprof.Rewrite(context.Background(), &filter.Run{Names: names}, once.Bytes(), &twice); err != nil {
			t.Fatalf("a second run failed: %v", err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("a second run wrote\n%q, want\n%q", twice.Bytes(), once.Bytes())
		}
	})
}
