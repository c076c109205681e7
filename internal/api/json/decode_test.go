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

// copyValue reads a value and appends it as JSON.
func copyValue(s *json.Decoder, dst []byte) []byte {
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
			dst = copyValue(s, dst)
		}
		return append(dst, c+2)
	case '"':
		s.ReadString(true)
		dst = append(dst, '"')
		dst = json.AppendEscaped(dst, s.Text)
		return append(dst, '"')
	case 't', 'f', 'n':
		s.ReadLiteral()
		return append(dst, map[byte]string{'t': "true", 'f': "false", 'n': "null"}[c]...)
	}
	literal, _ := s.ReadNumber()
	return append(dst, literal...)
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, -2.5e+3, true, false, null, "x\n\ud83d\ude00\ud800"], "b": {}}`, "\ufeff[]", `[1,]`, `{"a" 1}`, `01`, `"\xff"`, `[[[[]]]]`,
		`{"a":1}x`, ``, `-`, `tru`, `"` + strings.Repeat("long ", 900) + `"`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, slow bool) {
		if bytes.Count(body, []byte("[")) > 1000 || bytes.Count(body, []byte("{")) > 1000 {
			return // copyValue recurses
		}
		plain := bytes.TrimPrefix(body, []byte("\ufeff"))
		good := utf8.Valid(plain) && stdjson.Valid(plain)
		for _, skip := range []bool{true, false} {
			var src io.Reader = bytes.NewReader(body)
			if slow {
				src = iotest.OneByteReader(src)
			}
			s := json.NewDecoder(src)
			var got []byte
			if skip {
				s.Skip()
			} else {
				got = copyValue(s, nil)
			}
			s.End()
			if (s.Err == nil) != good {
				t.Fatalf("%q: error %v, but valid JSON: %v", body, s.Err, good)
			}
			if good && !skip && len(body) < 4<<10 && !equal(t, got, plain) {
				t.Fatalf("%q was read as %q", body, got)
			}
			s.Release()
		}
	})
}

// equal reports whether two documents have the same value.
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

func TestLongStringsAreTruncated(t *testing.T) {
	long := strings.Repeat("x", 5000)
	d := json.NewDecoder(strings.NewReader("\ufeff" + `["` + long + `", "` + long + `"]`))
	defer d.Release()
	d.Enter()
	for n := 0; d.Next(&n); d.MaxString = 6000 {
		d.Peek()
		d.ReadString(true)
		want := min(5000, d.MaxString)
		if len(d.Text) != want {
			t.Errorf("string %d: got %d bytes, want %d", n, len(d.Text), want)
		}
		if truncated := want < 5000; d.Truncated != truncated {
			t.Errorf("string %d: got truncated %v, want %v", n, d.Truncated, truncated)
		}
	}
	if d.End(); d.Err != nil {
		t.Error(d.Err)
	}
	if !d.HasBOM {
		t.Error("the byte order mark was not reported")
	}
}

func TestObjectsAreReadByTheirTable(t *testing.T) {
	for _, c := range []struct {
		body          string
		unique        bool
		want, missing string
		err           string
	}{
		{`{"a": 1, "x": [{}], "b": 2}`, true, "a=1 b=2", "", ""},
		{`{"b": 2}`, true, "b=2", "a", ""},
		{`{"a": 1, "a": 3}`, false, "a=1 a=3", "", ""},
		{`{"a": 1, "a": 3}`, true, "a=1", "", `duplicate member "a"`},
		{`{"a": 1, }`, true, "a=1", "", "not JSON"},
	} {
		d := json.NewDecoder(strings.NewReader(c.body))
		d.Unique = c.unique
		var got []string
		read := func(got *[]string, name string) {
			d.Peek()
			literal, _ := d.ReadNumber()
			*got = append(*got, name+"="+string(literal))
		}
		d.Peek()
		missing := json.NewTable([]json.Member[*[]string]{{Name: "a", Required: true, Read: read}, {Name: "b", Read: read}}).Read(d, &got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: read %s, want %s", c.body, text, c.want)
		}
		if c.err == "" && missing != c.missing {
			t.Errorf("%s: %q is missing, want %q", c.body, missing, c.missing)
		}
		if (d.Err != nil || c.err != "") && (d.Err == nil || d.Err.Error() != c.err) {
			t.Errorf("%s: error %v, want %s", c.body, d.Err, c.err)
		}
		d.Release()
	}
}
