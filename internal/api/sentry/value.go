package sentry

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

	"symbolon/internal/api/json"
	"symbolon/internal/metric"
)

// refusal is why a request is not served, in words for its client.
type refusal struct {
	status int
	detail string
}

func (r *refusal) Error() string { return r.detail }

// decoder reads a request. What does not fit the schema ends the reading.
type decoder struct {
	*json.Scanner
	cfg     Config
	q       *question
	scratch []byte
}

// wrong ends the reading: a value is not what it has to be.
func (d *decoder) wrong(name, want string) {
	d.Fail(&refusal{http.StatusUnprocessableEntity, fmt.Sprintf("%s: wanted is %s", name, want)})
}

// tooMany ends the reading: a bound of ours is passed.
func (d *decoder) tooMany(what string, most int) {
	metric.Refused.Add(1, what)
	d.Fail(&refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("a request may have %d %s", most, what)})
}

// begin steps into the array or object that has to be here.
func (d *decoder) begin(name string, bracket byte) bool {
	switch c := d.Peek(); {
	case c == bracket:
		d.Enter()
	case bracket == '{':
		d.mismatch(name, "an object")
	default:
		d.mismatch(name, "an array")
	}
	return d.Err == nil
}

// mismatch reads a value that is of the wrong kind, if it is one at all.
func (d *decoder) mismatch(name, want string) {
	d.Skip()
	d.wrong(name, want)
}

// once notes that a member was met, which may happen only once.
func (d *decoder) once(seen *uint32, member int, name string) {
	if *seen&(1<<member) != 0 {
		d.wrong(name, "one member of that name")
	}
	*seen |= 1 << member
}

// null reads the value if it is null.
func (d *decoder) null() bool {
	if d.Peek() != 'n' {
		return false
	}
	d.Word()
	return true
}

// text reads a string, which is in d.Text until the next one.
func (d *decoder) text(name string) bool {
	if d.Peek() != '"' {
		d.mismatch(name, "a string")
		return false
	}
	d.Str(true)
	if d.Cut {
		d.wrong(name, "a shorter string")
	}
	return d.Err == nil
}

// optional reads a string or null.
func (d *decoder) optional(name string) optional {
	if d.null() || !d.text(name) {
		return optional{}
	}
	return optional{string(d.Text), true}
}

// bool reads true or false.
func (d *decoder) bool(name string) bool {
	c := d.Peek()
	if c != 't' && c != 'f' {
		d.mismatch(name, "true or false")
		return false
	}
	d.Word()
	return c == 't'
}

// answer reads true, false or null.
func (d *decoder) answer(name string) answer3 {
	switch {
	case d.null():
		return unsaid
	case d.bool(name):
		return yes
	}
	return no
}

// unsigned reads a number without sign of so many bits, or null.
func (d *decoder) unsigned(name string, bits int) (v uint64, there bool) {
	if d.null() {
		return 0, false
	}
	c := d.Peek()
	if c < '0' || c > '9' {
		d.mismatch(name, "a number from 0 up")
		return 0, false
	}
	literal, integer := d.Number()
	if d.Err != nil {
		return 0, false
	}
	v, err := strconv.ParseUint(string(literal), 10, bits)
	if !integer || err != nil {
		d.wrong(name, fmt.Sprintf("a whole number of %d bits", bits))
		return 0, false
	}
	return v, true
}

// address reads a number, or a text in hexadecimal digits behind 0x or in
// decimal ones. A negative number is meant as the one with the same bits.
func (d *decoder) address(name string) uint64 {
	const want = `a number, or a text like "0x1f" or "31"`
	c := d.Peek()
	if c == '"' {
		d.Str(true)
		v, ok := parseAddress(d.Text)
		if d.Err == nil && !ok {
			d.wrong(name, want)
		}
		return v
	}
	if c != '-' && (c < '0' || c > '9') {
		d.mismatch(name, want)
		return 0
	}
	if v, ok := d.Small(); ok {
		return uint64(v)
	}
	literal, integer := d.Number()
	if d.Err != nil {
		return 0
	}
	v, err := strconv.ParseUint(string(literal), 10, 64)
	if err != nil && c == '-' {
		var negative int64
		negative, err = strconv.ParseInt(string(literal), 10, 64)
		v = uint64(negative)
	}
	if !integer || err != nil {
		d.wrong(name, want)
		return 0
	}
	return v
}

// afterPlus drops the plus sign of a number, which the peer takes.
func afterPlus(digits []byte) []byte { return bytes.TrimPrefix(digits, []byte("+")) }

func parseAddress(text []byte) (v uint64, ok bool) {
	if len(text) < 3 || text[0] != '0' || text[1]|0x20 != 'x' {
		v, err := strconv.ParseUint(string(afterPlus(text)), 10, 64)
		return v, err == nil
	}
	digits := afterPlus(text[2:])
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		if v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(c)
	}
	return v, true
}

// maxNesting bounds the depth of values that are kept as they are.
const maxNesting = 64

// value reads a value of any kind and appends it as JSON.
func (d *decoder) value(dst []byte, depth int) []byte {
	c := d.Peek()
	switch {
	case depth > maxNesting:
		d.wrong("a value", fmt.Sprintf("one of at most %d levels", maxNesting))
	case c == '{' || c == '[':
		dst = append(dst, c)
		d.Enter()
		for n := 0; d.Next(&n); {
			if n > 1 {
				dst = append(dst, ',')
			}
			if c == '{' {
				dst = append(appendQuoted(dst, d.Key()), ':')
			}
			dst = d.value(dst, depth+1)
		}
		dst = append(dst, c+2)
	case c == '"':
		if d.text("a value") {
			dst = appendQuoted(dst, d.Text)
		}
	case c == '-' || '0' <= c && c <= '9':
		literal, _ := d.Number()
		dst = append(dst, literal...)
	default:
		d.Scalar(c)
		dst = append(dst, words[c]...)
	}
	return dst
}

// words are the literals by their first letter.
var words = [256]string{'t': "true", 'f': "false", 'n': "null"}

func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = json.AppendEscaped(dst, s)
	return append(dst, '"')
}
