package il2cpp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/format/il2cpp"
)

const player = `{"__debug-id__":{"00112233-4455-6677-8899-aabbccddeeff":{}},
 "/out/A.cpp":{"/game/Player.cs":{"120":14,"131":15,"9":1},"/game/Enemy.cs":{"125":7}},
 "/out/\u0042.cpp":{"/game/Player.cs":{"+04":4294967295}},
 "/out/C.cpp":{}, "/out/D.cpp":null, "/out/E.cpp":{"/game/Player.cs":[1,{"a":-1.5e3}], "x":"\n"}}`

func TestLinesAtTakesEntryAbove(t *testing.T) {
	m, err := il2cpp.Read([]byte(player), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		line uint32
		want string
	}{
		{"/out/A.cpp", 0, "-"}, {"/out/A.cpp", 8, "-"}, {"/out/A.cpp", 9, "/game/Player.cs:1"}, {"/out/A.cpp", 59, "/game/Player.cs:1"},
		{"/out/A.cpp", 60, "-"}, {"/out/A.cpp", 119, "-"}, {"/out/A.cpp", 181, "/game/Player.cs:15"}, {"/out/A.cpp", 182, "-"},
		{"/out/A.cpp", 120, "/game/Player.cs:14"}, {"/out/A.cpp", 125, "/game/Enemy.cs:7"}, {"/out/A.cpp", 130, "/game/Enemy.cs:7"},
		{"/out/A.cpp", 1<<32 - 1, "-"}, {"/out/B.cpp", 3, "-"}, {"/out/B.cpp", 4, "/game/Player.cs:4294967295"},
		{"/out/C.cpp", 1, "-"}, {"/out/D.cpp", 1, "-"}, {"/out/E.cpp", 1, "-"}, {"__debug-id__", 1, "-"}, {"/out/a.cpp", 120, "-"},
	} {
		got := "-"
		if file, line, ok := m.Of([]byte(c.path)).At(c.line); ok {
			got = fmt.Sprintf("%s:%d", m.File(file), line)
		}
		if got != c.want {
			t.Errorf("%s:%d is %s, want %s", c.path, c.line, got, c.want)
		}
	}
	if m.File(99) != "" || m.Footprint() < 100 {
		t.Errorf("%q, %d bytes", m.File(99), m.Footprint())
	}
}

func TestLastOfDuplicatesWins(t *testing.T) {
	m, err := il2cpp.Read([]byte(`{"a":{"x":{"1":1}},"b":{"x":{"1":1,"1":2},"y":{"1":3},"c":{"1":4}},"a":{"y":{"2":9}},"c":{"x":{"1":1}},"c":{}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := m.Of([]byte("a")).At(1); ok {
		t.Error("the first a wins")
	}
	if _, line, _ := m.Of([]byte("b")).At(1); line != 3 {
		t.Errorf("line %d", line)
	}
	if m.Of([]byte("c")) != nil {
		t.Error("c has lines")
	}
}

func TestReadRejects(t *testing.T) {
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for _, text := range []string{
		"", "{", `{"a"`, `{"a":`, `{"a":{}`, `{"a":{}}x`, `{"a":{"b":{"c":1}}}`, `{"a":{"b":{"-1":1}}}`, `{"a":{"b":{"4294967296":1}}}`,
		`{"a":{"b":{"1":-1}}}`, `{"a":{"b":{"1":1.0}}}`, `{"a":{"b":{"1":01}}}`, `{"a":{"b":{"1":4294967296}}}`, `{"a":{"b":{"1":"1"}}}`,
		`{"a":{"b":{"1":}}}`, `{"a":{"b":{"":1}}}`, `{"a":{"b":{"1":1,}}}`, `{"a":{},}`, `{a:{}}`, `{"a" {}}`, `{"a":nul}`, `{"a":[1,]}`,
		`{"a":[1 2]}`, `{"a":1e}`, "{\"a\nb\":1}", "{\"\xff\":1}", `{"\x":1}`, `{"\`, `{"a\"`, "\xef\xbb\xbf{}", "{\"a\":\x00}", deep, `{"a":` + deep + `}`,
	} {
		if m, err := il2cpp.Read([]byte(text), nil); m != nil || fault.KindOf(err) != fault.Malformed {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	for _, text := range []string{"{}", " [] ", "null", `"x"`, "1", `{"a":[[],{},true,false]}`, `{"__debug-id__":7}`, `{"a":{"b":{}}}`} {
		if m, err := il2cpp.Read([]byte(text), nil); m != nil || fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), "no lines") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, ok := range map[string]bool{
		`\ud83d\ude00`: true, `\u0041\\ud83d`: true, `\ud83d`: false, `\ude00`: false, `\ud83dx`: false, `\ud83d\ud83d\ude00`: false, `\ud83d\n`: false, `\\\ude00`: false,
	} {
		if _, err := il2cpp.Read([]byte(`{"`+text+`":{"b":{"1":1}}}`), nil); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestIDs(t *testing.T) {
	for ids, want := range map[string]string{
		`{"00112233-4455-6677-8899-aabbccddeeff":{},"x":{"y":[]}}`: "00112233-4455-6677-8899-aabbccddeeff x", `"00112233445566778899aabbccddeeff0"`: "00112233445566778899aabbccddeeff0",
		"{}": "", "7": "", "null": "", `["x"]`: "",
	} {
		m, err := il2cpp.Read([]byte(`{"a":{"b":{"1":1}},"__debug-id__":`+ids+`}`), nil)
		if err != nil {
			t.Fatal(ids, err)
		}
		if got := strings.Join(m.IDs(), " "); got != want {
			t.Errorf("%s is for %q", ids, got)
		}
	}
}

// TestLimits reads mappings at each limit, and beyond it by one.
func TestLimits(t *testing.T) {
	const text = `{"__debug-id__":"1234","aa":{"x":{"1":1,"2":1,"3":1}},"b":{"x":{"1":1,"2":1}},"c":[[[]]]}`
	names := 4*96 + len("1234aaxb")
	whole := il2cpp.Limits{Lines: 5, InFile: 3, Names: names, Text: len(`"__debug-id__"`), Depth: 4}
	if _, err := il2cpp.ReadWithin([]byte(text), whole); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*il2cpp.Limits){
		"lines, or": func(l *il2cpp.Limits) { l.Lines-- }, "in one file": func(l *il2cpp.Limits) { l.InFile-- }, "names": func(l *il2cpp.Limits) { l.Names-- },
		"string exceeds": func(l *il2cpp.Limits) { l.Text-- }, "levels": func(l *il2cpp.Limits) { l.Depth-- },
	} {
		l := whole
		change(&l)
		if m, err := il2cpp.ReadWithin([]byte(text), l); m != nil || fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// room is a space of a fixed size that counts allocations.
type room struct{ left, taken int }

func (r *room) Take(n int) ([]byte, error) {
	if r.left -= n; r.left < 0 {
		return nil, errors.New("it is full")
	}
	r.taken += n
	return make([]byte, n), nil
}

func (r *room) Close() error { return nil }

// TestLinesAreInSpace has a space for some of the lines; the others are on the
// heap.
func TestLinesAreInSpace(t *testing.T) {
	var text strings.Builder
	text.WriteString("{")
	for f := range 40 {
		fmt.Fprintf(&text, `"%d":{"x":{"0":1`, f)
		for line := 1; line < 10_000; line++ {
			fmt.Fprintf(&text, `,"%d":%d`, line, f+line)
		}
		text.WriteString("}},")
	}
	text.WriteString(`"__debug-id__":{}}`)
	for _, left := range []int{0, 3 << 20, 64 << 20} {
		space := &room{left: left}
		m, err := il2cpp.Read([]byte(text.String()), space)
		if err != nil {
			t.Fatal(err)
		}
		for f := range 40 {
			if _, line, ok := m.Of(fmt.Append(nil, f)).At(9999); !ok || int(line) != f+9999 {
				t.Fatalf("file %d: line %d, %v", f, line, ok)
			}
		}
		if n := m.Footprint(); n < 40*10_000*12 || n > 5<<20 || space.taken > max(left, 6<<20) || left > 8<<20 && space.taken < 40*10_000*12 {
			t.Errorf("%d bytes, %d of the space", n, space.taken)
		}
	}
}

// oracle reads a mapping with the standard library. It returns nil if that
// rejects it.
func oracle(text []byte) map[string]map[string]map[uint32]uint32 {
	var files map[string]json.RawMessage
	if !json.Valid(text) {
		return nil
	}
	out := map[string]map[string]map[uint32]uint32{}
	_ = json.Unmarshal(text, &files)
	for cpp, rest := range files {
		var inner map[string]json.RawMessage
		if cpp == "__debug-id__" || json.Unmarshal(rest, &inner) != nil {
			continue
		}
		out[cpp] = map[string]map[uint32]uint32{}
		for cs, rest := range inner {
			var lines map[string]json.RawMessage
			if json.Unmarshal(rest, &lines) != nil {
				continue
			}
			out[cpp][cs] = map[uint32]uint32{}
			for from, to := range lines {
				a, err := strconv.ParseUint(strings.TrimPrefix(from, "+"), 10, 32)
				b, err2 := strconv.ParseUint(strings.TrimSpace(string(to)), 10, 32)
				if err != nil || err2 != nil {
					return nil
				}
				out[cpp][cs][uint32(a)] = uint32(b)
			}
		}
	}
	return out
}

// FuzzRead compares mappings with those that the standard library reads, which
// keeps the last of two equal keys, but not the order of two lines with one
// number.
func FuzzRead(f *testing.F) {
	f.Add([]byte(player))
	f.Add([]byte(`{"a":{"b":{"1":2,"1":3}},"a":[],"c":{"b":{"07":0}}}`))
	f.Add([]byte(`{"a":{"b":{"1":x}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := il2cpp.Read(text, nil)
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				t.Fatal(err)
			}
			return
		}
		if m.Footprint() > int64(len(text))*64+1024 {
			t.Fatalf("%d bytes of memory for %d", m.Footprint(), len(text))
		}
		want := oracle(text)
		if want == nil {
			t.Fatal("the standard library refuses it")
		}
		for cpp, files := range want {
			for cs, lines := range files {
				for line := range lines {
					if file, _, ok := m.Of([]byte(cpp)).At(line); !ok || m.File(file) != cs && len(files) == 1 {
						t.Fatalf("%q:%d is in %q, %v; want %q", cpp, line, m.File(file), ok, cs)
					}
				}
			}
		}
	})
}
