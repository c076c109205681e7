package firefox_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/firefox"
)

const appID = "A1B2C3D4E5F60718293A4B5C6D7E8F900"

// profile returns a profile in the form of a version. Its stacks are, from the
// outermost on,
//
//	0 label   1 label;0x1973   2 label;0x1973;0x2000   3 label;0x1973;0x2000;0x1980   4 label;named
//
// of the library app, with 0x2000 of one without identifiers.
func profile(version int) string {
	frames := `"length":5,"address":[-1,6515,8192,6528,4096],"inlineDepth":[0,0,0,0,0],"func":[0,1,2,3,4],
		"category":[0,1,1,1.5,0],"nativeSymbol":[null,null,null,null,null],"line":[null,null,null,null,7],
		"column":[null,3,null,null,null],"innerWindowID":[0,1,2,3,4]`
	funcs := `"length":5,"name":[1,2,3,4,5],"isJS":[true,false,false,false,false],"relevantForJS":[false,false,false,false,false],
		"resource":[-1,0,1,0,0],"lineNumber":[null,null,null,null,null]`
	resources := `"length":2,"name":[6,7],"host":[null,null],"type":[1,1]`
	stacks := `"length":5,"frame":[0,1,2,3,4]`
	if version >= 70 {
		frames += `,"lib":[-1,0,1,0,0],"originalLocation":[null,null,null,null,null]`
	} else {
		resources += `,"lib":[0,1]`
	}
	if version >= 66 {
		stacks += `,"prefixOffset":[0,1,1,1,4]`
	} else {
		stacks += `,"prefix":[null,0,1,2,0]`
	}
	if version < 53 {
		stacks += `,"category":[0,1,1,1,0]`
	}
	shared := `"stringArray":["","label","0x1973","0x2000","0x1980","na\u006ded","app","other","/src/a.c"]`
	if version < 58 {
		funcs += `,"fileName":[null,null,null,null,8]`
	} else {
		funcs += `,"source":[null,null,null,null,0]`
		id := "id"
		if version < 61 {
			id = "uuid"
		}
		sources := `"length":1,"` + id + `":[null],"filename":[8]`
		if version >= 61 {
			sources += `,"startLine":[1],"startColumn":[1],"content":[null]`
		}
		shared += `,"sources":{` + sources + `}`
	}
	symbols := `"length":0,"libIndex":[],"address":[],"name":[],"functionSize":[]`
	tables := fmt.Sprintf(`"frameTable":{%s},"funcTable":{%s},"resourceTable":{%s},"stackTable":{%s},"nativeSymbols":{%s}`,
		frames, funcs, resources, stacks, symbols)
	thread := `"samples":{"length":6,"stack":[3,null,2,1,4,3],"time":[1,2,3,4,5,6.50]},"nativeAllocations":{"stack":[3]},
		"markers":{"data":[null,{"type":"x","cause":{"time":1,"stack":3}},{"cause":null}],"length":3}`
	switch {
	case version >= 60:
		shared += "," + tables
	case version >= 56:
		thread += "," + tables
	default:
		thread += "," + tables + "," + shared
		shared = ""
	}
	return fmt.Sprintf(`{"meta":{"symbolicated": false,"preprocessedProfileVersion":%d, "unknown" : 1e2},
 "libs":[{"name":"app","path":"/bin/app","debugName":"app","breakpadId":"%s","codeId":null},
  {"name":"other","path":"/bin/other","debugName":"","breakpadId":""}],
 "shared":{%s}, "threads":[{%s,"name":"ma\u0069n"}],"pages":[ ]}
`, version, appID, shared, thread)
}

// names has an inlined call at 0x1973, and the functions of the other addresses.
func names() filtertest.Names {
	return filtertest.Names{appID: {
		0x1973: {
			{Function: []byte("inner"), File: []byte("/src/b.c"), Line: 3, Entry: 0x1900, Size: 256, Inlined: true},
			{Function: []byte("outer<\"x\">"), File: []byte("/src/a.c"), Line: 41, Entry: 0x1900, Size: 256},
		},
		0x1980: {{Function: []byte("outer<\"x\">"), File: []byte("/src/a.c"), Line: 42, Entry: 0x1900, Size: 256}},
		0x1000: {{Function: []byte("new name"), File: []byte("/src/c.c"), Line: 1, Entry: 0xff0}},
	}}
}

func rewrite(t *testing.T, run *filter.Run, data string) string {
	t.Helper()
	var out bytes.Buffer
	if err := firefox.Rewrite(t.Context(), run, []byte(data), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// stacks returns the stacks of a thread as texts: those of the samples, the
// allocations and the causes of markers.
func stacks(t *testing.T, text string) (list []string) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	shared := root["shared"].(map[string]any)
	thread := root["threads"].([]any)[0].(map[string]any)
	member := func(name string) map[string]any {
		for _, from := range []map[string]any{shared, thread} {
			if v, ok := from[name].(map[string]any); ok {
				return v
			}
		}
		return nil
	}
	texts, ok := shared["stringArray"].([]any)
	if !ok {
		texts = thread["stringArray"].([]any)
	}
	frames, funcs, table := member("frameTable"), member("funcTable"), member("stackTable")
	for _, name := range []string{"frameTable", "funcTable", "stackTable", "nativeSymbols", "sources"} {
		for column, v := range member(name) {
			if cells, ok := v.([]any); ok && float64(len(cells)) != member(name)["length"] {
				t.Errorf("%s.%s has %d cells, want %v", name, column, len(cells), member(name)["length"])
			}
		}
	}
	at := func(from map[string]any, column string, row any) any { return from[column].([]any)[int(row.(float64))] }
	file := func(f any) any {
		row := at(funcs, "fileName", f)
		return row
	}
	if sources := member("sources"); sources != nil {
		file = func(f any) any {
			if row := at(funcs, "source", f); row != nil {
				return at(sources, "filename", row)
			}
			return nil
		}
	}
	var describe func(stack any) string
	describe = func(stack any) string {
		if stack == nil {
			return "none"
		}
		frame := at(table, "frame", stack)
		f := at(frames, "func", frame)
		text := texts[int(at(funcs, "name", f).(float64))].(string)
		if name := file(f); name != nil {
			text += fmt.Sprintf(" %s:%v", texts[int(name.(float64))], at(frames, "line", frame))
		}
		text += fmt.Sprintf(" (%v,%v)", at(frames, "inlineDepth", frame), at(frames, "innerWindowID", frame))
		var prefix any
		if _, ok := table["prefix"]; ok {
			prefix = at(table, "prefix", stack)
		} else if offset := at(table, "prefixOffset", stack).(float64); offset > 0 {
			prefix = stack.(float64) - offset
		}
		if prefix == nil {
			return text
		}
		return describe(prefix) + "; " + text
	}
	for _, stack := range thread["samples"].(map[string]any)["stack"].([]any) {
		list = append(list, describe(stack))
	}
	list = append(list, describe(thread["nativeAllocations"].(map[string]any)["stack"].([]any)[0]))
	marker := thread["markers"].(map[string]any)["data"].([]any)[1].(map[string]any)
	return append(list, describe(marker["cause"].(map[string]any)["stack"]))
}

var versions = []int{42, 52, 55, 57, 58, 60, 61, 66, 70, 71}

func TestStacksGetNamesAndInlinedCalls(t *testing.T) {
	outer := `label (0,0); outer<"x"> /src/a.c:41 (0,1); inner /src/b.c:3 (1,1)`
	other := outer + "; 0x2000 (0,2)"
	deep := other + `; outer<"x"> /src/a.c:42 (0,3)`
	want := []string{deep, "none", other, outer, "label (0,0); named /src/a.c:7 (0,4)", deep, deep, deep}
	for _, version := range versions {
		text := rewrite(t, &filter.Run{Names: names()}, profile(version))
		if got := stacks(t, text); !slices.Equal(got, want) {
			t.Errorf("version %d:\n%s\nwant\n%s", version, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestFunctionsAndSymbolsAreShared(t *testing.T) {
	text := rewrite(t, &filter.Run{Names: names()}, profile(70))
	for _, want := range []string{
		`"name":[1,9,3,10,5]`, // of functions: 0x1973 became outer, 0x1980 inner
		`"nativeSymbols":{"length":1,"libIndex":[0],"address":[6400],"name":[9],"functionSize":[256]}`,
		`"nativeSymbol":[null,0,null,0,null,0]`,
		`"stringArray":["","label","0x1973","0x2000","0x1980","na\u006ded","app","other","/src/a.c","outer<\"x\">","inner","/src/b.c"]`,
		`"sources":{"length":2,"id":[null,null],"filename":[8,11],"startLine":[1,1],"startColumn":[1,1],"content":[null,null]}`,
		`"symbolicated": true,`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the profile lacks %s:\n%s", want, text)
		}
	}
}

func TestOtherMembersStayAsTheyAre(t *testing.T) {
	text := rewrite(t, &filter.Run{Names: names()}, profile(70))
	for _, want := range []string{
		`, "unknown" : 1e2}`, `"time":[1,2,3,4,5,6.50]`, `"pages":[ ]}` + "\n", `"name":"ma\u0069n"`, `"category":[0,1,1,1.5,0,1]`,
		`[null,{"type":"x","cause":{"time":1,"stack":4}},{"cause":null}]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the profile lacks %s:\n%s", want, text)
		}
	}
}

func TestSecondRunChangesNothing(t *testing.T) {
	for _, version := range versions {
		once := rewrite(t, &filter.Run{Names: names()}, profile(version))
		if twice := rewrite(t, &filter.Run{Names: names()}, once); twice != once {
			t.Errorf("version %d: the second run wrote\n%s\nthe first\n%s", version, twice, once)
		}
	}
}

func TestProfileWithoutAnswersStaysAsItIs(t *testing.T) {
	if text := rewrite(t, &filter.Run{Names: filtertest.Names{}}, profile(70)); text != profile(70) {
		t.Errorf("the profile became %s", text)
	}
}

func TestForceReplacesNamesAndInlinedCalls(t *testing.T) {
	for _, version := range versions {
		once := rewrite(t, &filter.Run{Names: names()}, profile(version))
		other := names()
		other[appID][0x1973] = []filter.Frame{{Function: []byte("whole"), Entry: 0x1900}}
		got := stacks(t, rewrite(t, &filter.Run{Names: other, Force: true}, once))
		if want := "label (0,0); whole (0,1); 0x2000 (0,2)"; got[2] != want {
			t.Errorf("version %d: the stack is %s, want %s", version, got[2], want)
		}
		if want := "label (0,0); new name /src/c.c:1 (0,4)"; got[4] != want {
			t.Errorf("version %d: the stack is %s, want %s", version, got[4], want)
		}
	}
}

func TestAddressesAboveFourGigabytesGetNames(t *testing.T) {
	large := filtertest.Names{appID: {0x123456789: {{Function: []byte("far"), Entry: 0x123456700}}}}
	text := rewrite(t, &filter.Run{Names: large}, strings.Replace(profile(70), "6515", "4886718345", 1))
	for _, want := range []string{`"address":[-1,4886718345,8192`, `"address":[4886718208]`, `"far"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the profile lacks %s:\n%s", want, text)
		}
	}
}

func TestModulesWithoutIdentifiersAreReported(t *testing.T) {
	run := &filter.Run{Names: names()}
	rewrite(t, run, profile(70))
	var report strings.Builder
	run.Report(&report)
	if want := "symbolon: /bin/other: no names for 1 frame: the input does not identify the file"; !strings.Contains(report.String(), want) {
		t.Errorf("the report is %q, want %q", report.String(), want)
	}
}

func TestProfilesThatCannotBeReadAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		profile(41): "version 41: must be 42 or newer; open it at profiler.firefox.com and save it again",
		strings.Replace(profile(71), "prefixOffset", "parent", 1):                "version 71 has tables of an unknown form: must be 70 or older",
		strings.Replace(profile(70), `"func":[0,`, `"func":[`, 1):                "frameTable.func has 4 values, its length is 5",
		strings.Replace(profile(70), `"inlineDepth"`, `"depth"`, 1):              `frameTable lacks the column "inlineDepth"`,
		strings.Replace(profile(60), `"prefix":[null,0`, `"prefix":[null,3`, 1):  "stack 1 precedes its prefix 3",
		strings.Replace(profile(70), `"sources"`, `"files"`, 1):                  "funcTable has sources, and shared has none",
		strings.Replace(profile(70), `"preprocessedProfileVersion"`, `"foo"`, 1): "meta lacks preprocessedProfileVersion",
		profile(70)[:120]: "JSON, byte 120: malformed: unexpected end",
	} {
		err := firefox.Rewrite(t.Context(), &filter.Run{Names: names()}, []byte(text), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// geckoProfile has the stack 0x7f0000001974;0x7f0000002000 in its process, and a
// process with the library at another address.
const geckoProfile = `{"meta":{"version":30,"x": 1.0},
 "libs":[{"name":"app","path":"/bin/app","debugName":"app","breakpadId":"` + appID + `",
  "start":139637976727552,"end":139637976793088,"offset":0}],
 "threads":[{"name":"main","frameTable":{"schema":{"location":0,"line":1},"data":[[0],[1,null],[2],[3],[4]]},
  "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[1,2],[null,3],[null,4]]},
  "stringTable":["(root)","0x7f0000001974","0x7f0000001980","0x7f0000010000","main (in app)"]}],
 "processes":[{"libs":[{"name":"a(p)p","breakpadId":"` + appID + `","start":8192,"end":12288,"offset":4096}],
  "threads":[{"stringTable":["0x2980"],"frameTable":{"schema":{"location":1},"data":[[null,0]]},"stackTable":{"schema":{},"data":[]}}]}]}
`

func TestAddressesOfGeckoProfilesBecomeNames(t *testing.T) {
	text := rewrite(t, &filter.Run{Names: names()}, geckoProfile)
	want := strings.NewReplacer(
		`"0x7f0000001974"`, `"outer<\"x\"> (in app) (/src/a.c:41)"`, // the byte before, as a stack has it as prefix
		`"0x7f0000001980"`, `"outer<\"x\"> (in app) (/src/a.c:42)"`,
		`"0x2980"`, `"outer<\"x\"> (in a(pp) (/src/a.c:42)"`).Replace(geckoProfile)
	if text != want {
		t.Errorf("the profile became %s\nwant %s", text, want)
	}
	if twice := rewrite(t, &filter.Run{Names: names()}, text); twice != text {
		t.Errorf("the second run wrote %s", twice)
	}
}

// container returns a container of slabs: columns of numbers as types of their own,
// a table and the root in JSON.
func container() []byte {
	text := profile(70)
	frames := `{"length":5,"address":[`
	at := strings.Index(text, frames)
	end := at + strings.Index(text[at:], `]}`) + 2
	table := strings.Replace(text[at:end], `[-1,6515,8192,6528,4096]`, `{ "$s" : 1 }`, 1)
	table = strings.Replace(table, `[0,0,0,0,0]`, `{"$s":2}`, 1)
	root := text[:at] + `{"$s":0}` + strings.Replace(text[end:], `[1,2,3,4,5,6.50]`, `{"$s":3}`, 1)
	root = strings.Replace(root, `"ma\u0069n"`, `"{\"$s"`, 1)
	var address, time []byte
	for _, v := range []int32{-1, 6515, 8192, 6528, 4096} {
		address = binary.LittleEndian.AppendUint32(address, uint32(v))
	}
	for _, v := range []float64{1, 2, 3, 4, 5, 6.5} {
		time = binary.LittleEndian.AppendUint64(time, math.Float64bits(v))
	}
	return pack(4, slab{10, table}, slab{4, string(address)}, slab{1, strings.Repeat("\x00", 5)}, slab{7, string(time)}, slab{10, root})
}

type slab struct {
	kind uint32
	text string
}

func pack(root uint32, slabs ...slab) []byte {
	file := []byte("\xdc\xdfJSLB\x01\x00")
	for _, v := range []uint32{1, uint32(len(slabs)), root} {
		file = binary.LittleEndian.AppendUint32(file, v)
	}
	offset := uint32(20 + 12*len(slabs))
	var body []byte
	for _, s := range slabs {
		for _, v := range []uint32{s.kind, offset + uint32(len(body)), uint32(len(s.text))} {
			file = binary.LittleEndian.AppendUint32(file, v)
		}
		body = append(body, s.text+strings.Repeat(" ", 8-len(s.text)%8)...)
	}
	return append(file, body...)
}

func TestContainersOfSlabsGetNames(t *testing.T) {
	got := rewrite(t, &filter.Run{Names: names()}, string(container()))
	want := rewrite(t, &filter.Run{Names: names()}, profile(70))
	want = strings.Replace(strings.Replace(want, "6.50", "6.5", 1), `"ma\u0069n"`, `"{\"$s"`, 1)
	if got != string(pack(0, slab{10, want}))[:32]+want {
		t.Errorf("the container became\n%q\nwant the slab\n%s", got, want)
	}
	if twice := rewrite(t, &filter.Run{Names: names()}, got); twice != got {
		t.Errorf("the second run wrote %q", twice)
	}
	if text := rewrite(t, &filter.Run{Names: filtertest.Names{}}, string(container())); text != string(container()) {
		t.Error("the container without answers changed")
	}
}

func TestNumbersOfSlabsAreExact(t *testing.T) {
	for kind, want := range []string{"[-1,2,3,4,5,6,7,-8]", "[255,2,3,4,5,6,7,248]", "[767,1027,1541,-2041]", "[767,1027,1541,63495]",
		"[67306239,-133757435]", "[67306239,4161209861]", "[1.5400351734552302e-36,-1.095440885157244e+34]", "[-1.5203995688991926e+270]",
		"[-574483808854539521]", "[17872260264855012095]"} {
		numbers := "\xff\x02\x03\x04\x05\x06\x07\xf8"
		text := strings.Replace(profile(70), `"pages":[ ]`, `"pages":{"$s":1}`, 1)
		got := rewrite(t, &filter.Run{Names: names()}, string(pack(0, slab{10, text}, slab{uint32(kind), numbers})))
		if !strings.Contains(got, `"pages":`+want) {
			t.Errorf("type %d is written as %s, want %s", kind, got[strings.Index(got, `"pages"`):], want)
		}
	}
}

func TestDamagedContainersAreRefused(t *testing.T) {
	for want, file := range map[string][]byte{
		"slab 1 is not in the table":                 pack(1, slab{10, "{}"}),
		"slab 0 has type 11 and 2 bytes":             pack(0, slab{11, "{}"}),
		"slab 1 has type 4 and 3 bytes":              pack(0, slab{10, `{"$s":1}`}, slab{4, "abc"}),
		"slab 0: slabs refer to each other":          pack(0, slab{10, `[{"$s":0},{"$s":0}]`}),
		"slab 0 ends after the file":                 pack(0, slab{10, "{}"})[:32],
		"unknown version; save the profile as .json": []byte("\xdc\xdfJSLB\x01\x00"),
	} {
		err := firefox.Rewrite(t.Context(), &filter.Run{Names: names()}, file, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestIsTellsProfilesFromOtherFiles(t *testing.T) {
	if !firefox.Is([]byte(profile(70))) || !firefox.Is(container()) {
		t.Error("a profile is not recognized")
	}
	if !firefox.Is([]byte(geckoProfile)) {
		t.Error("a Gecko profile is not recognized")
	}
	if firefox.Is([]byte(`{"meta":{},"libs":[]}`)) {
		t.Error("another document is taken for a profile")
	}
}

// TestDamagedProfilesStayDocuments replaces each value of the tables by others.
func TestDamagedProfilesStayDocuments(t *testing.T) {
	value := regexp.MustCompile(`[\[,:](-?\d+|null)\b`)
	for _, version := range []int{57, 70} {
		text := profile(version)
		for _, at := range value.FindAllStringSubmatchIndex(text, -1) {
			for _, other := range []string{"null", "-1", "5", "6", "4294967296", "4294967297", "999999999999999999", `"x"`} {
				for _, force := range []bool{false, true} {
					check(t, []byte(text[:at[2]]+other+text[at[3]:]), force)
				}
			}
		}
	}
}

// check checks that the result of a profile is a document, and that a second run
// changes nothing.
func check(t *testing.T, data []byte, force bool) {
	t.Helper()
	_, _ = firefox.Libraries(data)
	var once, twice bytes.Buffer
	if firefox.Rewrite(t.Context(), &filter.Run{Names: names(), Force: force}, data, &once) != nil {
		return
	}
	if bytes.HasPrefix(data, []byte("{")) && !json.Valid(once.Bytes()) {
		t.Fatalf("%s became %s", data, once.Bytes())
	}
	if err := firefox.Rewrite(t.Context(), &filter.Run{Names: names()}, once.Bytes(), &twice); err != nil {
		t.Fatalf("%s became %s: %v", data, once.Bytes(), err)
	}
	if !force && !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Fatalf("%s became %s, then %s", data, once.Bytes(), twice.Bytes())
	}
}

// FuzzRewrite reads profiles that are changed anywhere.
func FuzzRewrite(f *testing.F) {
	for _, version := range versions {
		f.Add([]byte(profile(version)), false)
		f.Add([]byte(profile(version)), true)
	}
	f.Add(container(), false)
	f.Add([]byte(geckoProfile), false)
	f.Fuzz(check)
}

func TestLibrariesOfProfilesAreListed(t *testing.T) {
	for _, c := range []struct {
		data string
		want []string
	}{
		{profile(66), []string{"/bin/app", "/bin/other"}},
		{string(container()), []string{"/bin/app", "/bin/other"}},
		{geckoProfile, []string{"/bin/app", ""}},
		{`{"threads":[]}`, nil},
	} {
		if got, err := firefox.Libraries([]byte(c.data)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%.40q: %q, %v, want %q", c.data, got, err, c.want)
		}
	}
	for _, damaged := range []string{"", `{"libs":[{"path":"x"}`, string(container()[:30])} {
		if got, err := firefox.Libraries([]byte(damaged)); err == nil {
			t.Errorf("%.40q: %q", damaged, got)
		}
	}
}
