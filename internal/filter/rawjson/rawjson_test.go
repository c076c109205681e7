package rawjson_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"symbolon/internal/filter/rawjson"
)

func TestMembersAndElementsAreReadInPlace(t *testing.T) {
	r := rawjson.Reader{Data: []byte(` { "a" : [ -12 , 3.5, null ] , "b\u0041\ud83d\ude00" : "x\ny" , "c":{"d":[[],{}]} } `)}
	var got []string
	note := func(text string) { got = append(got, text) }
	for r.Enter('{'); r.Next(); {
		key := string(r.Key())
		note(key)
		switch key {
		case "a":
			for r.Enter('['); r.Next(); {
				v, ok := r.Int()
				if !ok {
					v = -1
				}
				note(string(rune('0' + v + 12)))
			}
		case "c":
			note(string(r.Skip()))
		default:
			note(string(r.Text()))
		}
	}
	r.End()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if want := "a|0|;|;|bA😀|x\ny|c|{\"d\":[[],{}]}"; strings.Join(got, "|") != want {
		t.Errorf("read %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestValuesOfOtherKindsAreSkipped(t *testing.T) {
	r := rawjson.Reader{Data: []byte(`[{"a":1},"x",7,[2]]`)}
	r.Enter('[')
	r.Next()
	if text := r.Text(); text != nil {
		t.Errorf("an object is read as the text %q", text)
	}
	r.Next()
	if v, ok := r.Int(); ok {
		t.Errorf("a string is read as the number %d", v)
	}
	r.Next()
	if r.Enter('{'); r.Next() {
		t.Error("a number is entered as an object")
	}
	r.Next()
	if r.Enter('{'); r.Next() {
		t.Error("an array is entered as an object")
	}
	if r.Next() {
		t.Error("the array does not end after its elements")
	}
	r.End()
	if r.Err != nil {
		t.Error(r.Err)
	}
}

func TestErrorsNameThePosition(t *testing.T) {
	for text, want := range map[string]string{
		``:                 "JSON, byte 0: malformed: unexpected end",
		`[1 2]`:            "JSON, byte 3: malformed: unexpected '2'",
		`{"a":nul}`:        "JSON, byte 5: malformed: unexpected 'n'",
		`[01]`:             "JSON, byte 1: malformed: unexpected '0'",
		`["\x"]`:           "JSON, byte 2: malformed: unexpected '\\\\'",
		`{"a" 1}`:          "JSON, byte 5: malformed: unexpected '1'",
		`[1}`:              "JSON, byte 2: malformed: unexpected '}'",
		`[] x`:             "JSON, byte 3: malformed: unexpected 'x'",
		"[1]\x00":          "JSON, byte 3: malformed: unexpected '\\x00'",
		`["`:               "JSON, byte 2: malformed: unexpected end",
		deep(513):          "JSON, byte 512: malformed: nested deeper than 512 levels",
		`{"a":1,}`:         "JSON, byte 7: malformed: unexpected '}'",
		`[1,]`:             "JSON, byte 3: malformed: unexpected ']'",
		`{"a":[1,"\ud8"]}`: "JSON, byte 9: malformed: unexpected '\\\\'",
	} {
		r := rawjson.Reader{Data: []byte(text)}
		r.Skip()
		r.End()
		if r.Err == nil || r.Err.Error() != want {
			t.Errorf("%.20q: error %v, want %s", text, r.Err, want)
		}
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestNestingUpToTheLimitIsRead(t *testing.T) {
	r := rawjson.Reader{Data: []byte(deep(512))}
	if r.Skip(); r.Err != nil {
		t.Error(r.Err)
	}
}

func TestTextsStayValidUntilReset(t *testing.T) {
	r := rawjson.Reader{Data: []byte(`["a\n", "` + strings.Repeat(`b\t`, 1000) + `"]`)}
	r.Enter('[')
	r.Next()
	first := r.Text()
	r.Next()
	r.Text()
	if string(first) != "a\n" {
		t.Errorf("the first text became %q", first)
	}
}

func TestEditorKeepsAllOtherBytes(t *testing.T) {
	data := []byte("{ \"a\" : 1.0e2 ,\t\"b\":[ ] , \"c\":\"\\/\" }\n")
	var file bytes.Buffer
	out := bufio.NewWriter(&file)
	e := rawjson.NewEditor(out, data)
	r := rawjson.Reader{Data: data}
	for r.Enter('{'); r.Next(); {
		if string(r.Key()) != "b" {
			r.Skip()
			continue
		}
		r.Peek()
		from := r.Pos
		r.Skip()
		e.Replace(from, r.Pos)
		out.WriteString("[7]")
	}
	e.Finish()
	if err := out.Flush(); err != nil || r.Err != nil {
		t.Fatal(err, r.Err)
	}
	if want := strings.Replace(string(data), "[ ]", "[7]", 1); file.String() != want {
		t.Errorf("wrote %q, want %q", file.String(), want)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	data := []byte(`{"modules":[{"name":"a\\b","base":4096}],"frames":[{"ip":"0x1","i":0},{"ip":"0x2","i":0}]}`)
	var r rawjson.Reader
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(data)
		for r.Enter('{'); r.Next(); {
			r.Key()
			for r.Enter('['); r.Next(); {
				for r.Enter('{'); r.Next(); {
					r.Key()
					r.Text()
				}
			}
		}
	}); n != 0 || r.Err != nil {
		t.Errorf("%v allocations for a document, error %v", n, r.Err)
	}
}

// FuzzReader compares the package with encoding/json: which documents are valid,
// what their strings say, and that texts survive writing and reading.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,true,false,null,"\u00e4\ud83d\ude00\ud800x\\"]}`, `"a`, `[0.]`, `[-]`, `[1e]`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := rawjson.Reader{Data: data}
		value := r.Skip()
		r.End()
		isShallow := bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) <= 512
		if isShallow && (r.Err == nil) != json.Valid(data) {
			t.Fatalf("error %v, encoding/json accepts it: %v", r.Err, json.Valid(data))
		}
		if r.Err == nil && !json.Valid(value) {
			t.Fatalf("the value %q is not a document", value)
		}
		if r.Err == nil && utf8.Valid(value) && value[0] == '"' {
			var want string
			if err := json.Unmarshal(value, &want); err != nil {
				t.Fatal(err)
			}
			r.Reset(value)
			if got := r.Text(); string(got) != want {
				t.Fatalf("the text is %q, encoding/json reads %q", got, want)
			}
		}
		r.Reset(data)
		walk(&r)
		quoted, _ := json.Marshal(string(data))
		r.Reset(quoted)
		if got := r.Text(); r.Err != nil || string(got) != string([]rune(string(data))) {
			t.Fatalf("%q is read as %q, error %v", quoted, got, r.Err)
		}
	})
}

// walk reads a value by the calls that fit.
func walk(r *rawjson.Reader) {
	switch r.Peek() {
	case '{':
		for r.Enter('{'); r.Next(); {
			r.Key()
			walk(r)
		}
	case '[':
		for r.Enter('['); r.Next(); {
			walk(r)
		}
	case '"':
		r.Text()
	default:
		r.Int()
	}
}

func BenchmarkText(b *testing.B) {
	quoted, _ := json.Marshal(strings.Repeat(`{"module":"libc.so.6","frames":[1,2,3]},`, 1000))
	b.SetBytes(int64(len(quoted)))
	var r rawjson.Reader
	for b.Loop() {
		r.Reset(quoted)
		r.Text()
	}
}

func BenchmarkSkip(b *testing.B) {
	data := []byte("[" + strings.Repeat(`{"a":[123,4567,null,89,1.5],"name":"a::b::c"},`, 20000) + "0]")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := rawjson.Reader{Data: data}
		if r.Skip(); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}
