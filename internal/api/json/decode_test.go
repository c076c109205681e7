package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"symbolon/internal/api/json"
)

// whole reads a document value by value and writes it again.
func whole(s *json.Scanner, dst []byte) []byte {
	switch c := s.Peek(); c {
	case '{', '[':
		dst = append(dst, c)
		s.Enter()
		for n := 0; s.Next(&n); {
			if n > 1 {
				dst = append(dst, ',')
			}
			if c == '{' {
				dst = append(dst, '"')
				dst = json.AppendEscaped(dst, s.Key())
				dst = append(dst, '"', ':')
			}
			dst = whole(s, dst)
		}
		return append(dst, c+2)
	case '"':
		s.Str(true)
		dst = append(dst, '"')
		dst = json.AppendEscaped(dst, s.Text)
		return append(dst, '"')
	case 't', 'f', 'n':
		s.Word()
		return append(dst, map[byte]string{'t': "true", 'f': "false", 'n': "null"}[c]...)
	}
	literal, _ := s.Number()
	return append(dst, literal...)
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, -2.5e+3, true, false, null, "x\n\ud83d\ude00\ud800"], "b": {}}`, "\ufeff[]", `[1,]`, `{"a" 1}`, `01`, `"\xff"`, `[[[[]]]]`,
		`{"a":1}x`, ``, `-`, `tru`, `"` + strings.Repeat("long ", 900) + `"`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, slow bool) {
		if bytes.Count(body, []byte("[")) > 1000 || bytes.Count(body, []byte("{")) > 1000 {
			return // whole recurses
		}
		plain := bytes.TrimPrefix(body, []byte("\ufeff"))
		good := utf8.Valid(plain) && stdjson.Valid(plain)
		for _, skip := range []bool{true, false} {
			var src io.Reader = bytes.NewReader(body)
			if slow {
				src = iotest.OneByteReader(src)
			}
			s := json.NewScanner(src)
			var got []byte
			if skip {
				s.Skip()
			} else {
				got = whole(s, nil)
			}
			s.Finish()
			if (s.Err == nil) != good {
				t.Fatalf("%q: %v, but it is JSON: %v", body, s.Err, good)
			}
			if good && !skip && len(body) < 4<<10 && !equal(t, got, plain) {
				t.Fatalf("%q reads as %q", body, got)
			}
			s.Free()
		}
	})
}

// equal compares what two documents say.
func equal(t *testing.T, a, b []byte) bool {
	var x, y any
	for _, d := range []struct {
		text []byte
		v    *any
	}{{a, &x}, {b, &y}} {
		dec := stdjson.NewDecoder(bytes.NewReader(d.text))
		dec.UseNumber()
		if err := dec.Decode(d.v); err != nil {
			t.Fatalf("%q: %v", d.text, err)
		}
	}
	one, _ := stdjson.Marshal(x)
	two, _ := stdjson.Marshal(y)
	return bytes.Equal(one, two)
}

func TestTheScannerSaysWhatItLeftOut(t *testing.T) {
	s := json.NewScanner(strings.NewReader("\ufeff" + `["` + strings.Repeat("x", 5000) + `", "` + strings.Repeat("x", 5000) + `"]`))
	defer s.Free()
	s.Enter()
	for n := 0; s.Next(&n); s.Most = 6000 {
		s.Peek()
		s.Str(true)
		if s.Cut != (n == 1) || len(s.Text) != 4096 && n == 1 || len(s.Text) != 5000 && n == 2 {
			t.Errorf("string %d: %d bytes, cut off: %v", n, len(s.Text), s.Cut)
		}
	}
	if s.Finish(); !s.BOM || s.Err != nil {
		t.Errorf("byte order mark: %v, %v", s.BOM, s.Err)
	}
}
