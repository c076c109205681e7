package json_test

import (
	stdjson "encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"symbolon/internal/api/json"
)

// escape returns s with the escapes of a JSON string.
func escape(s string) string {
	a, b := json.AppendEscaped(nil, s), json.AppendEscaped(nil, []byte(s))
	if string(a) != string(b) {
		panic("AppendEscaped differs for a string and its bytes")
	}
	return string(a)
}

func TestEscapedStringsAreValidJSON(t *testing.T) {
	for in, want := range map[string]string{
		"":                       ``,
		"plain <T> & more":       `plain <T> & more`,
		`a"b\c/d`:                `a\"b\\c/d`,
		"\n\t\r\x00\x1f\x7f":     "\\n\\t\\u000d\\u0000\\u001f\x7f",
		"\u00fc\u20ac\U0001F600": "\u00fc\u20ac\U0001F600",
		"\u2028\u2029\ufffd":     "\u2028\u2029\ufffd",
		"a\xffb":                 "a\ufffdb",
		"\xc3":                   "\ufffd",
		"\xe2\x82":               "\ufffd\ufffd",
		"\xed\xa0\x80":           "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x98":           "\ufffd\ufffd\ufffd",
		"\xc0\xaf":               "\ufffd\ufffd",
		"seven..\"":              `seven..\"`,
		"eight...\x1f\x80":       "eight...\\u001f\ufffd",
	} {
		if got := escape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestEscapesAreFoundAtEachByte(t *testing.T) {
	for at := range 17 {
		for c := range 256 {
			text := []byte(strings.Repeat("[", 17))
			text[at] = byte(c)
			if got, want := escape(string(text)), strings.Repeat("[", at)+escape(string(text[at:at+1]))+strings.Repeat("[", 16-at); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c", "\xff\x00\u20ac", "\xf0\x9f\x98\x80\xf0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := `"` + escape(s) + `"`
		var back string
		if err := stdjson.Unmarshal([]byte(got), &back); err != nil || !utf8.ValidString(got) {
			t.Fatalf("%q became %q: %v", s, got, err)
		}
		ours, _ := stdjson.Marshal(s)
		var theirs string
		_ = stdjson.Unmarshal(ours, &theirs)
		if back != theirs {
			t.Fatalf("%q is read as %q, want %q", s, back, theirs)
		}
	})
}

func BenchmarkAppendQuoted(b *testing.B) {
	for name, text := range map[string]string{
		"quotes": `{"module":"libc.so.6","frames":[1,2,3]},`,
		"plain":  "std::map<std::string, std::vector<int, std::allocator<int> > >::find(std::string const&) const, ",
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(strings.Repeat(text, 1000))
			b.SetBytes(int64(len(text)))
			var dst []byte
			for b.Loop() {
				dst = json.AppendQuoted(dst[:0], text)
			}
		})
	}
}
