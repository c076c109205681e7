// Package json reads and writes the JSON of the protocols.
package json

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrSyntax says that the input is not JSON.
var ErrSyntax = errors.New("not JSON")

// ErrDepth says that the input has more arrays and objects in one another than
// anybody reads.
var ErrDepth = fmt.Errorf("nested deeper than %d levels", maxDepth)

// Bounds of the scanner. The depth is that of encoding/json.
const (
	bufferSize = 32 << 10
	maxDepth   = 10_000
	maxNumber  = 16 << 10 // bytes of a number
	maxText    = 4 << 10  // bytes that are kept of a string, if nobody wants more
)

// Scanner reads one JSON document from a stream, value by value, as the caller
// asks for it. After the first error every method does nothing, and loops over
// Next end. It allocates nothing but its buffers. It belongs to one goroutine.
type Scanner struct {
	src      io.Reader
	buf      []byte
	pos, end int
	srcErr   error  // what ended the source: io.EOF, or worse
	open     []byte // the closing brackets that are still to come
	Text     []byte // the last string that was kept, until the next one
	Cut      bool   // Text is only the beginning of it
	Err      error  // the first one
	Most     int    // bytes that are kept of a string
	BOM      bool   // the document begins with a byte order mark
}

// scanners are those that nobody uses, for their memory.
var scanners = sync.Pool{New: func() any { return &Scanner{buf: make([]byte, bufferSize)} }}

// NewScanner begins a document. Free the scanner.
func NewScanner(src io.Reader) *Scanner {
	s := scanners.Get().(*Scanner)
	*s = Scanner{src: src, buf: s.buf, open: s.open[:0], Text: s.Text[:0], Most: maxText}
	s.need(3)
	if bytes.HasPrefix(s.buf[:s.end], []byte("\ufeff")) {
		s.pos, s.BOM = 3, true
	}
	return s
}

// Free gives the memory of the scanner back. Nothing of it may be in use.
func (s *Scanner) Free() {
	s.src = nil
	if cap(s.Text) > maxText {
		s.Text = nil
	}
	scanners.Put(s)
}

// fill reads more behind what is not consumed yet; false at the end.
func (s *Scanner) fill() bool {
	if s.srcErr != nil {
		return false
	}
	if s.pos > 0 {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	for range 100 {
		var n int
		n, s.srcErr = s.src.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return true
		}
		if s.srcErr != nil {
			return false
		}
	}
	s.srcErr = io.ErrNoProgress
	return false
}

// need makes n bytes visible, or as many as there are.
func (s *Scanner) need(n int) {
	for s.end-s.pos < n && s.fill() {
	}
}

// Fail keeps the first error.
func (s *Scanner) Fail(err error) {
	if s.Err == nil {
		s.Err = err
	}
}

// bad says that the input is not JSON here, unless it could not be read.
func (s *Scanner) bad() {
	if s.srcErr != nil && s.srcErr != io.EOF {
		s.Fail(s.srcErr)
	}
	s.Fail(ErrSyntax)
}

// Peek skips white space and gives the byte behind it, zero at the end or
// after an error: no value begins with a zero.
func (s *Scanner) Peek() byte {
	if s.Err != nil {
		return 0
	}
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\n', '\r':
				s.pos++
			default:
				return c
			}
		}
		if !s.fill() {
			return 0
		}
	}
}

// Finish checks that nothing follows the document.
func (s *Scanner) Finish() {
	s.Peek()
	if s.Err == nil && (s.pos < s.end || s.srcErr != io.EOF) {
		s.bad()
	}
}

// Enter steps into the array or object that begins here.
func (s *Scanner) Enter() {
	if len(s.open) >= maxDepth {
		s.Fail(ErrDepth)
		return
	}
	s.open = append(s.open, s.buf[s.pos]+2) // ']' and '}' are two behind
	s.pos++
}

// Next steps to the next element of the array or object that was entered;
// false when there is none, and then it is left. n counts the elements and
// begins at zero.
func (s *Scanner) Next(n *int) bool {
	c := s.Peek()
	if s.Err != nil {
		return false
	}
	closing := s.open[len(s.open)-1]
	if c == closing {
		s.pos++
		s.open = s.open[:len(s.open)-1]
		return false
	}
	if *n > 0 {
		if c != ',' {
			s.bad()
			return false
		}
		s.pos++
	}
	*n++
	return true
}

// Key reads the name of a member and the colon behind it. The result is valid
// until the next string is read.
func (s *Scanner) Key() []byte {
	if s.Peek() != '"' {
		s.bad()
		return nil
	}
	s.Str(true)
	if s.Peek() != ':' {
		s.bad()
		return nil
	}
	s.pos++
	return s.Text
}

// plain marks the bytes that stand for themselves in a string and are a
// character of their own.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// Str reads the string that begins here. If it is to be kept, it is in text
// afterwards, lone surrogates as U+FFFD.
func (s *Scanner) Str(keep bool) {
	s.Text, s.Cut = s.Text[:0], false
	s.pos++
	for s.Err == nil {
		i := s.pos
		for i < s.end && plain[s.buf[i]] {
			i++
		}
		if keep && i > s.pos {
			s.keep(s.buf[s.pos:i])
		}
		s.pos = i
		if i == s.end {
			if !s.fill() {
				s.bad()
			}
			continue
		}
		switch c := s.buf[i]; {
		case c == '"':
			s.pos++
			return
		case c == '\\':
			s.escape(keep)
		case c < 0x20:
			s.bad()
		default:
			s.need(utf8.UTFMax)
			r, size := utf8.DecodeRune(s.buf[s.pos:s.end])
			if r == utf8.RuneError && size == 1 {
				s.bad()
				return
			}
			if keep {
				s.keep(s.buf[s.pos : s.pos+size])
			}
			s.pos += size
		}
	}
}

func (s *Scanner) keep(b []byte) {
	if room := s.Most - len(s.Text); len(b) > room {
		s.Cut = true
		b = b[:room]
	}
	s.Text = append(s.Text, b...)
}

func (s *Scanner) escape(keep bool) {
	s.need(2)
	if s.end-s.pos < 2 {
		s.bad()
		return
	}
	c := s.buf[s.pos+1]
	s.pos += 2
	r := rune(c)
	switch c {
	case '"', '\\', '/':
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'u':
		if r = s.hex4(0); r < 0 {
			s.bad()
			return
		}
		s.pos += 4
		if utf16.IsSurrogate(r) {
			r = s.pair(r)
		}
	default:
		s.bad()
		return
	}
	if keep {
		var b [utf8.UTFMax]byte
		s.keep(utf8.AppendRune(b[:0], r))
	}
}

// hex4 is the value of four hex digits at an offset, or negative.
func (s *Scanner) hex4(at int) rune {
	s.need(at + 4)
	if s.end-s.pos < at+4 {
		return -1
	}
	var r rune
	for _, c := range s.buf[s.pos+at : s.pos+at+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// pair joins a surrogate with the one that follows, if they belong together;
// alone it is U+FFFD.
func (s *Scanner) pair(first rune) rune {
	s.need(6)
	if s.end-s.pos < 6 || s.buf[s.pos] != '\\' || s.buf[s.pos+1] != 'u' {
		return utf8.RuneError
	}
	r := utf16.DecodeRune(first, s.hex4(2))
	if r != utf8.RuneError {
		s.pos += 6
	}
	return r
}

// Small reads the integer that begins here if it is a short one and in sight;
// if not, nothing is read. Nearly all numbers of a request are small.
func (s *Scanner) Small() (v int64, ok bool) {
	const most = 18 // digits that fit in any case
	i := s.pos
	negative := i < s.end && s.buf[i] == '-'
	if negative {
		i++
	}
	from := i
	for i < s.end && i-from < most && '0' <= s.buf[i] && s.buf[i] <= '9' {
		v = v*10 + int64(s.buf[i]-'0')
		i++
	}
	if i == from || i == s.end || numeric(s.buf[i]) || s.buf[from] == '0' && i-from > 1 {
		return 0, false
	}
	s.pos = i
	if negative {
		v = -v
	}
	return v, true
}

// Number reads the number that begins here. The result is valid until the
// Next read.
func (s *Scanner) Number() (literal []byte, integer bool) {
	n := 0
	for {
		for s.pos+n < s.end && numeric(s.buf[s.pos+n]) {
			n++
		}
		if s.pos+n < s.end || n > maxNumber || !s.fill() {
			break
		}
	}
	literal = s.buf[s.pos : s.pos+n]
	s.pos += n
	integer, ok := grammar(literal)
	if !ok || n > maxNumber {
		s.bad()
		return nil, false
	}
	return literal, integer
}

func numeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// grammar checks a number, and says whether it is written as an integer.
func grammar(lit []byte) (integer, ok bool) {
	lit = bytes.TrimPrefix(lit, []byte("-"))
	whole := digits(lit)
	if whole == 0 || whole > 1 && lit[0] == '0' {
		return false, false
	}
	lit = lit[whole:]
	if len(lit) == 0 {
		return true, true
	}
	if lit[0] == '.' {
		n := digits(lit[1:])
		if n == 0 {
			return false, false
		}
		lit = lit[1+n:]
	}
	if len(lit) > 0 && lit[0]|0x20 == 'e' {
		lit = lit[1:]
		if len(lit) > 0 && (lit[0] == '+' || lit[0] == '-') {
			lit = lit[1:]
		}
		n := digits(lit)
		return false, n > 0 && n == len(lit)
	}
	return false, len(lit) == 0
}

// digits counts the decimal digits that lit begins with.
func digits(lit []byte) int {
	n := 0
	for n < len(lit) && '0' <= lit[n] && lit[n] <= '9' {
		n++
	}
	return n
}

// Word reads true, false or null.
func (s *Scanner) Word() {
	for _, w := range [...]string{"true", "false", "null"} {
		if s.buf[s.pos] == w[0] {
			s.need(len(w))
			if !bytes.HasPrefix(s.buf[s.pos:s.end], []byte(w)) {
				break
			}
			s.pos += len(w)
			return
		}
	}
	s.bad()
}

// Scalar reads a value that is no array or object, and keeps nothing of it.
func (s *Scanner) Scalar(c byte) {
	switch {
	case c == '"':
		s.Str(false)
	case c == '-' || '0' <= c && c <= '9':
		s.Number()
	case c == 't' || c == 'f' || c == 'n':
		s.Word()
	default:
		s.bad()
	}
}

// Skip reads a value of any kind, and checks that it is one. It does not
// recurse.
func (s *Scanner) Skip() {
	base := len(s.open)
	counts := 0 // elements before this one in the innermost container, as far as next must know
	for s.Err == nil {
		if c := s.Peek(); c == '{' || c == '[' {
			s.Enter()
			counts = 0
		} else {
			s.Scalar(c)
		}
		for len(s.open) > base && !s.Next(&counts) {
			if s.Err != nil {
				return
			}
			counts = 1 // the container that was left is an element itself
		}
		if len(s.open) == base {
			return
		}
		if s.open[len(s.open)-1] == '}' {
			s.Key()
		}
	}
}

// Truthy reads a value and says whether it is neither null, false, zero nor
// empty.
func (s *Scanner) Truthy() bool {
	c := s.Peek()
	switch {
	case c == '"':
		s.Str(true)
		return len(s.Text) > 0
	case c == '-' || '0' <= c && c <= '9':
		lit, _ := s.Number()
		mantissa, _, _ := bytes.Cut(bytes.ToLower(lit), []byte("e"))
		return bytes.ContainsAny(mantissa, "123456789")
	case c == '{' || c == '[':
		s.Enter()
		n := 0
		for s.Next(&n) {
			if c == '{' {
				s.Key()
			}
			s.Skip()
		}
		return n > 0
	}
	s.Scalar(c)
	return c == 't'
}
