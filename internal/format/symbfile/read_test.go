package symbfile_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

// Files of the specification.
const (
	workedRanges = "73796d6266696c65000108040a066d61696e2e63190260802010401a046d61696e5000420a0a0300082812030a0b0d" +
		"1f02082010201a096f757465725f696e6c280c58003801500042060a0100120103" +
		"2402081010101a086c6561665f696e6c22066c6561662e682804380242080a02000412024647"
	workedPads = "73796d6266696c6500012b040a046d61696e0a066d61696e2e630a096f757465725f696e6c0a086c6561665f696e6c0a066c6561662e68" +
		"120328a02012030002031a0301010422030c04470b0308201201001a010122010d"
	documented = "73796d6266696c65 0001 06040a046d61696e 0f026080201040480042060a010412010a 0b0308101201001a010022010a"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// text returns "" and not nil for an empty string.
func text(s string) []byte { return append([]byte{}, s...) }

func ranges() []any {
	return []any{
		symbfile.Range{VA: 0x1000, Length: 0x40, Func: text("main"), File: text("main.c"), Lines: []symbfile.Line{{0, 10}, {8, 11}, {0x30, 13}}},
		symbfile.Range{VA: 0x1010, Length: 0x20, Func: text("outer_inl"), File: text("main.c"), CallFile: text("main.c"), CallLine: 12, Depth: 1, Lines: []symbfile.Line{{0, 3}}},
		symbfile.Range{VA: 0x1018, Length: 0x10, Func: text("leaf_inl"), File: text("leaf.h"), CallLine: 4, Depth: 2, Lines: []symbfile.Line{{0, 70}, {4, 71}}},
	}
}

func pads() []any {
	return []any{
		symbfile.Pad{VA: 0x1020, Frames: []symbfile.PadFrame{{text("main"), text("main.c"), 12}, {text("outer_inl"), text("main.c"), 4}, {text("leaf_inl"), text("leaf.h"), 71}}},
		symbfile.Pad{VA: 0x1030, Frames: []symbfile.PadFrame{{text("main"), text("main.c"), 13}}},
	}
}

// keep returns a deep copy of a record.
func keep(r symbfile.Record) any {
	if x := r.Range; x != nil {
		c := *x
		c.Func, c.File, c.CallFile = bytes.Clone(x.Func), bytes.Clone(x.File), bytes.Clone(x.CallFile)
		c.Lines = append([]symbfile.Line(nil), x.Lines...)
		return c
	}
	c := symbfile.Pad{VA: r.Pad.VA}
	for _, f := range r.Pad.Frames {
		c.Frames = append(c.Frames, symbfile.PadFrame{Func: bytes.Clone(f.Func), File: bytes.Clone(f.File), Line: f.Line})
	}
	return c
}

// all returns the records up to the end, or to an error.
func all(r *symbfile.Reader) (list []any, err error) {
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			if _, again := r.Next(); again != err {
				return list, fmt.Errorf("%w, then %w", err, again)
			}
			return list, err
		}
		list = append(list, keep(rec))
	}
}

func read(b []byte) ([]any, error) { return all(symbfile.NewReader(bytes.NewReader(b))) }

func strictly(b []byte) ([]any, error) {
	r := symbfile.NewReader(bytes.NewReader(b))
	r.Strict = true
	return all(r)
}

func TestReadWorkedFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		want []any
	}{
		"ranges": {workedRanges, ranges()},
		"pads":   {workedPads, pads()},
		"doc": {documented, []any{
			symbfile.Range{VA: 0x1000, Length: 0x40, Func: text("main"), Lines: []symbfile.Line{{4, 10}}},
			symbfile.Pad{VA: 0x1008, Frames: []symbfile.PadFrame{{text("main"), text("main"), 10}}},
		}},
		"nothing":     {"73796d6266696c65 0001", nil},
		"empty table": {"73796d6266696c65 0001 0004", nil},
	} {
		b := unhex(tc.file)
		for how, r := range map[string]io.Reader{"at once": bytes.NewReader(b), "by byte": iotest.OneByteReader(bytes.NewReader(b)), "with the end": iotest.DataErrReader(bytes.NewReader(b))} {
			if got, err := all(symbfile.NewReader(r)); err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s %s: %v, %v", name, how, got, err)
			}
		}
		if got, err := strictly(b); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s strictly: %v, %v", name, got, err)
		}
	}
}

func TestTruncatedFiles(t *testing.T) {
	for _, tc := range []struct {
		file string
		fine map[int]int
	}{
		{workedRanges, map[int]int{10: 0, 20: 0, 47: 1, 80: 2, 118: 3}},
		{workedPads, map[int]int{10: 0, 55: 0, 75: 1, 88: 2}},
	} {
		b := unhex(tc.file)
		for n := range len(b) + 1 {
			got, err := read(b[:n])
			want, fine := tc.fine[n]
			if fine != (err == nil) || fine && len(got) != want {
				t.Errorf("%d bytes: %d records, %v", n, len(got), err)
			}
			if err != nil && fault.KindOf(err) != fault.Malformed {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

func TestOffset(t *testing.T) {
	r := symbfile.NewReader(bytes.NewReader(append(unhex(workedRanges), 0, 0)))
	for _, want := range []int64{20, 47, 80, 118} {
		_, err := r.Next()
		if r.Offset() != want || (err != nil) != (want == 118) {
			t.Errorf("%d instead of %d, %v", r.Offset(), want, err)
		}
	}
}

// Parts of messages for the tests.
func va(v uint64) fixture.Proto { return fixture.Proto{}.Num(12, v).Num(2, 8) }

func TestReaderErrors(t *testing.T) {
	deep := fixture.Proto{}
	for range 101 {
		deep = fixture.Proto{}.Group(20, deep)
	}
	file := func() *fixture.Symbfile { return fixture.NewSymbfile().Table("a") }
	rng := func(p fixture.Proto) []byte {
		return file().Message(fixture.SymbfileRange, va(1).Text(3, "f")).Message(fixture.SymbfileRange, p).Bytes()
	}
	pad := func(p fixture.Proto) []byte { return file().Message(fixture.SymbfilePad, p).Bytes() }
	body := func(s string) []byte { return append(fixture.NewSymbfile().Bytes(), unhex(s)...) }
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":                    {nil, "message at 0x0: malformed: the file ends"},
		"other magic":                {unhex("53796d6266696c650001"), "message at 0x0: malformed: invalid magic"},
		"a part of another magic":    {[]byte("sys"), "invalid magic"},
		"no header":                  {unhex("73796d6266696c650002"), "range at 0x8: malformed: the first message must be"},
		"a second header":            {body("0001"), "header at 0xa: malformed: duplicate header"},
		"type 0":                     {body("0000"), "message at 0xa: malformed: invalid message type"},
		"type 1<<31":                 {body("008080808008"), "invalid message type"},
		"a relative VA":              {body("05020802 1a0161"), "range at 0xa: malformed: relative VA without a previous record"},
		"a relative VA of a pad":     {pad(fixture.Proto{}.Signed(1, 0)), "return pad at 0xf: malformed: relative VA"},
		"no VA":                      {body("03021a0161"), "missing VA"},
		"no VA of a pad":             {body("0003"), "missing VA"},
		"no func":                    {body("02026000"), "missing function"},
		"no such string":             {body("040260004800"), "invalid ref to the string table"},
		"no such file":               {rng(va(1).Num(9, 0).Num(10, 1)), "invalid ref to the string table"},
		"no such callFile":           {rng(va(1).Num(9, 0).Num(11, 1)), "invalid ref to the string table"},
		"no such func of a pad":      {pad(fixture.Proto{}.Num(5, 1).Packed(2, 1).Packed(3, 0).Packed(4, 0)), "invalid ref to the string table"},
		"no such file of a pad":      {pad(fixture.Proto{}.Num(5, 1).Packed(2, 0).Packed(3, 1).Packed(4, 0)), "invalid ref to the string table"},
		"a string of an old table":   {file().Table().Message(2, va(1).Num(9, 0)).Bytes(), "invalid ref to the string table"},
		"columns":                    {body("0503 2800 120100"), "columns differ"},
		"columns of lines":           {rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Packed(1, 1, 2).Packed(2, 1))), "columns differ"},
		"too long":                   {body("8180800802"), "message at 0xa: malformed: message exceeds 16 MiB"},
		"long, and cut":              {body("8080800802"), "range at 0xa: malformed: the file ends"},
		"long table, and cut":        {body("8080800804"), "string table at 0xa: malformed: the file ends"},
		"unknown, and cut":           {body("8080800805"), "message of type 5 at 0xa: malformed: the file ends"},
		"a length alone":             {body("01"), "message at 0xa: malformed: the file ends"},
		"half a length":              {body("e58ea6"), "message at 0xa: malformed: the file ends"},
		"a long length":              {body("ffffffffffffffffffff"), "exceeds 10 bytes"},
		"a long type":                {body("00 8080808080808080808001"), "exceeds 10 bytes"},
		"field 0":                    {rng(fixture.Proto{0, 1}), "invalid field number"},
		"a field of many bits":       {rng(fixture.Proto{0x80, 0x80, 0x80, 0x80, 0x10, 0}), "invalid field number"},
		"wire type 7":                {rng(fixture.Proto{0xa7, 1}), "unexpected wire type"},
		"a string as a number":       {rng(va(1).Num(3, 1)), "unexpected wire type"},
		"a number as a string":       {rng(va(1).Text(2, "a")), "unexpected wire type"},
		"a column of 4 bytes":        {pad(fixture.Proto{}.Fixed(2, 1, 2, 3, 4)), "unexpected wire type"},
		"offsets of 8 bytes":         {rng(va(1).Sub(8, fixture.Proto{}.Fixed(1, 1, 2, 3, 4, 5, 6, 7, 8))), "unexpected wire type"},
		"a table of numbers":         {file().Message(4, fixture.Proto{}.Num(1, 1)).Bytes(), "unexpected wire type"},
		"a field that is cut":        {rng(fixture.Proto{0x1a, 9, 'a'}), "field exceeds its message"},
		"a number that is cut":       {rng(fixture.Proto{0x10, 0x80}), "field exceeds its message"},
		"a fixed one that is cut":    {rng(fixture.Proto{}.Fixed(20, 1, 2, 3, 4)[:4]), "field exceeds its message"},
		"a key alone":                {rng(fixture.Proto{0x1a}), "field exceeds its message"},
		"a number of many bits":      {rng(append(fixture.Proto{0x10}, unhex("ffffffffffffffffff02")...)), "exceeds 64 bits"},
		"a packed one that is cut":   {pad(fixture.Proto{}.Text(2, "\x80")), "field exceeds its message"},
		"a packed one of many bits":  {pad(fixture.Proto{}.Text(2, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")), "exceeds 64 bits"},
		"a header with half a field": {unhex("73796d6266696c65 010108"), "header at 0x8: malformed: field exceeds its message"},
		"the end of no group":        {rng(fixture.Proto{0xa4, 1}), "unterminated or mismatched group"},
		"a group without an end":     {rng(fixture.Proto{0xa3, 1}), "unterminated or mismatched group"},
		"a group with another end":   {rng(fixture.Proto{0xa3, 1, 0xac, 1}), "unterminated or mismatched group"},
		"a group with field 0":       {rng(fixture.Proto{0xa3, 1, 0, 0}), "invalid field number"},
		"a group with wire type 7":   {rng(fixture.Proto{0xa3, 1, 15}), "unexpected wire type"},
		"a group with half a key":    {rng(fixture.Proto{0xa3, 1, 0x80}), "field exceeds its message"},
		"a group with half a field":  {rng(fixture.Proto{0xa3, 1, 8, 0x80}), "field exceeds its message"},
		"a group with half a text":   {rng(fixture.Proto{0xa3, 1, 10, 9}), "field exceeds its message"},
		"deep groups":                {rng(deep), "groups are nested too deeply"},
		"a func that is not UTF-8":   {rng(va(1).Text(3, "caf\xe9")), "invalid string: must be UTF-8"},
		"one that does not count":    {rng(va(1).Text(3, "caf\xe9").Num(9, 0)), "invalid string: must be UTF-8"},
		"a table that is not UTF-8":  {file().Table("a", "\xc0\x80").Bytes(), "string table at 0xf: malformed: invalid string: must be UTF-8"},
	} {
		_, err := read(tc.file)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "symbfile, ") || fault.KindOf(err) != fault.Malformed {
			t.Errorf("%s: %v", name, err)
		}
		if err := symbfile.Dump(io.Discard, bytes.NewReader(tc.file)); err == nil {
			t.Errorf("%s: Dump returned no error", name)
		}
	}
}

func TestRejectedByOtherReaders(t *testing.T) {
	for name, n := range map[string]int{"magic": 3, "head": 9, "between": 20, "body": 40} {
		broken := errors.New("broken")
		r := symbfile.NewReader(io.MultiReader(bytes.NewReader(unhex(workedRanges)[:n]), iotest.ErrReader(broken)))
		if _, err := all(r); !errors.Is(err, broken) || fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := symbfile.NewReader(idle{}).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestProtobufVariants(t *testing.T) {
	rng := func(p fixture.Proto) *fixture.Symbfile {
		return fixture.NewSymbfile().Table("a", "b", "").Message(2, p)
	}
	lines := func(l ...symbfile.Line) symbfile.Range {
		return symbfile.Range{VA: 1, Length: 8, Func: text("f"), Lines: l}
	}
	groups := fixture.Proto{}
	for range 100 {
		groups = fixture.Proto{}.Group(30, groups).Num(2, 5).Text(3, "x").Fixed(4, 0, 0, 0, 0).Fixed(5, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	groups = groups[:len(groups)-2-3-5-9] // the outermost one alone
	many := fixture.Proto{}
	for i := range 5 {
		many = many.Text(100+i, strings.Repeat("x", 50_000))
	}
	for name, tc := range map[string]struct {
		file *fixture.Symbfile
		want any
	}{
		"unpacked":           {rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Num(1, 2).Num(2, 5).Num(2, 6).Num(1, 3))), lines([]symbfile.Line{{2, 5}, {5, 6}}...)},
		"joined":             {rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Packed(1, 2).Packed(2, 5)).Sub(8, fixture.Proto{}.Packed(1, 3).Packed(2, 6))), lines([]symbfile.Line{{2, 5}, {5, 6}}...)},
		"large offsets":      {rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Packed(1, math.MaxUint32, 2).Packed(2, 1<<32+5, 6))), lines([]symbfile.Line{{math.MaxUint32, 5}, {math.MaxUint32 + 2, 6}}...)},
		"unknown":            {rng(va(1).Text(3, "f").Num(13, 1).Text(14, "\xff").Fixed(15, 1, 2, 3, 4).Fixed(16, 1, 2, 3, 4, 5, 6, 7, 8).Group(17, groups[:0]).Sub(8, fixture.Proto{}.Num(3, 1))), lines()},
		"groups":             {rng(append(va(1).Text(3, "f"), groups...)), lines()},
		"a large message":    {rng(append(many, va(1).Text(3, "f")...)), lines()},
		"the last one":       {rng(fixture.Proto{}.Signed(1, 4).Num(2, 9).Num(9, 7).Text(3, "f").Num(12, 1).Num(2, 8).Num(10, 9).Text(4, "x").Num(10, 2).Text(6, "g").Num(11, 0)), symbfile.Range{VA: 1, Length: 8, Func: text("f"), File: text(""), CallFile: text("a")}},
		"empty":              {rng(va(1).Num(9, 2).Text(4, "").Text(6, "")), symbfile.Range{VA: 1, Length: 8, Func: text(""), File: text(""), CallFile: text("")}},
		"bits that are lost": {rng(va(1).Text(3, "f").Num(5, 1<<32+3).Num(7, 1<<40+2)), symbfile.Range{VA: 1, Length: 8, Func: text("f"), CallLine: 3, Depth: 2}},
		"a pad":              {fixture.NewSymbfile().Table("a", "").Message(3, fixture.Proto{}.Num(5, 1).Num(2, 0).Packed(2, 1).Packed(3, 1, 0).Num(4, 3).Num(4, 4)), symbfile.Pad{VA: 1, Frames: []symbfile.PadFrame{{text("a"), nil, 3}, {text(""), text("a"), 4}}}},
		"an empty pad":       {fixture.NewSymbfile().Message(3, fixture.Proto{}.Num(5, 1)), symbfile.Pad{VA: 1}},
		"unknown messages":   {fixture.NewSymbfile().Message(9, fixture.Proto("\xde\xad")).Message(1<<31-1, make(fixture.Proto, 200_000)).Message(2, va(1).Text(3, "f")), lines()},
		"unknown header":     {(&fixture.Symbfile{}).Raw([]byte("symbfile")...).Message(1, fixture.Proto{}.Num(1, 3)).Message(2, va(1).Text(3, "f")), lines()},
		"long numbers":       {fixture.NewSymbfile().Raw(unhex("8b8080808080808080 7e 8280808080808080 8000 e080 0001 908000 08 1a0166")...), lines()},
		"a long key":         {fixture.NewSymbfile().Raw(unhex("04 04 8a80 00 00")...).Message(2, va(1).Num(9, 0)), symbfile.Range{VA: 1, Length: 8, Func: text("")}},
	} {
		got, err := read(tc.file.Bytes())
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], tc.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if err := symbfile.Dump(io.Discard, bytes.NewReader(tc.file.Bytes())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRelativeVA(t *testing.T) {
	s := fixture.NewSymbfile().Message(2, va(0x10).Text(3, "f")).Message(3, fixture.Proto{}.Signed(1, -0x20)).
		Table().Message(9, nil).Message(2, fixture.Proto{}.Signed(1, 0x30).Text(3, "f")).
		Message(3, fixture.Proto{}.Signed(1, math.MinInt64)).Message(3, fixture.Proto{}.Signed(1, math.MaxInt64)).Message(3, fixture.Proto{}.Num(5, 5))
	got, err := read(s.Bytes())
	want := []uint64{0x10, math.MaxUint64 - 0xf, 0x20, 1<<63 + 0x20, 0x1f, 5}
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for i, x := range got {
		if v := reflect.ValueOf(x).Field(0).Uint(); v != want[i] {
			t.Errorf("record %d: %#x, want %#x", i, v, want[i])
		}
	}
}

func TestStrictLimits(t *testing.T) {
	rng := func(p fixture.Proto) *fixture.Symbfile {
		return fixture.NewSymbfile().Table(strings.Repeat("x", 2<<20)).Message(2, p)
	}
	frames := func(n int) *fixture.Symbfile {
		col := make([]uint64, n)
		return fixture.NewSymbfile().Table("").Message(3, fixture.Proto{}.Num(5, 1).Packed(2, col...).Packed(3, col...).Packed(4, col...))
	}
	rows := func(n int) *fixture.Symbfile {
		col := make([]uint64, n)
		return rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Packed(1, col...).Packed(2, col...)))
	}
	long := func(refs ...uint64) *fixture.Symbfile {
		return fixture.NewSymbfile().Table(strings.Repeat("x", 2<<20), "").Message(3, fixture.Proto{}.Num(5, 1).Packed(2, refs...).Packed(3, refs...).Packed(4, refs...))
	}
	for name, tc := range map[string]struct {
		fine, bad *fixture.Symbfile
	}{
		"length": {rng(fixture.Proto{}.Num(12, 1).Num(2, math.MaxUint32).Text(3, "f")), rng(fixture.Proto{}.Num(12, 1).Num(2, 1<<32).Text(3, "f"))},
		"end":    {rng(va(math.MaxUint64-7).Text(3, "f")), rng(va(math.MaxUint64-6).Text(3, "f"))},
		"depth":  {rng(va(1).Text(3, "f").Num(7, 256)), rng(va(1).Text(3, "f").Num(7, 257))},
		"frames": {frames(1024), frames(1025)},
		"rows":   {rows(1 << 20), rows(1<<20 + 1)},
		"offset": {rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Packed(1, math.MaxUint32, 0).Packed(2, 1, 1))), rng(va(1).Text(3, "f").Sub(8, fixture.Proto{}.Packed(1, math.MaxUint32, 1).Packed(2, 1, 1)))},
		"text":   {rng(va(1).Num(9, 0).Num(10, 0)), rng(va(1).Num(9, 0).Num(10, 0).Text(6, "f"))},
		"pad":    {long(0, 1, 1), long(0, 0, 1)},
	} {
		if _, err := strictly(tc.fine.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := strictly(tc.bad.Bytes()); fault.KindOf(err) != fault.Malformed || err == nil {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
		if _, err := read(tc.bad.Bytes()); err != nil {
			t.Errorf("%s, not strictly: %v", name, err)
		}
	}
	for name, s := range map[string]*fixture.Symbfile{
		"frames": frames(1<<20 + 1), "rows": rows(1<<22 + 1),
		"unpacked": fixture.NewSymbfile().Message(3, fixture.Proto(bytes.Repeat(fixture.Proto{}.Num(2, 0), 1<<20+1))),
	} {
		if _, err := read(s.Bytes()); err == nil || !strings.Contains(err.Error(), "too many rows") {
			t.Errorf("%s in a lenient Reader: %v", name, err)
		}
	}
}

func TestMessageOf16MiB(t *testing.T) {
	head := va(1)
	name := strings.Repeat("n", 16<<20-len(head)-1-4)
	b := fixture.NewSymbfile().Message(2, head.Text(3, name)).Bytes()
	got, err := read(b)
	if err != nil || len(got) != 1 || string(got[0].(symbfile.Range).Func) != name {
		t.Error(len(got), err)
	}
	if _, err := read(fixture.NewSymbfile().Message(2, head.Text(3, name+"n")).Bytes()); err == nil {
		t.Error("16 MiB and 1 byte")
	}
	out, err := write(got)
	if err != nil || len(out) != len(b)+2 { // the table is empty
		t.Errorf("%d bytes of %d, %v", len(out), len(b), err)
	}
}
