package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
	"symbolon/internal/metric"
)

// decoder reads a request. The first value that does not fit ends it.
type decoder struct {
	*json.Decoder
	limits  Limits
	q       *Request
	stack   Stack // that is being read, as are the frame, the module and the rewrite
	frame   Frame
	module  Module
	rewrite rewrite
	scratch []byte
}

// invalid ends the reading because of a value.
func (d *decoder) invalid(name, want string) {
	d.Fail(api.Refuse(http.StatusUnprocessableEntity, "%s: must be %s", name, want))
}

// tooMany ends the reading because of a limit.
func (d *decoder) tooMany(things string, limit int) {
	metric.Refused.Add(1, things)
	d.Fail(api.Refuse(http.StatusRequestEntityTooLarge, "a request may have %d %s", limit, things))
}

// object reads the object that must follow.
func (d *decoder) object(name string, members *json.Table[*decoder]) {
	if d.Peek() != '{' {
		d.mismatch(name, "an object")
	} else if missing := members.Read(d.Decoder, d); missing != "" {
		d.invalid(name, "an object with "+missing)
	}
}

// enter enters the array or object that must follow.
func (d *decoder) enter(name string, bracket byte) bool {
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

// mismatch reads a value of the wrong type, which may not be JSON either.
func (d *decoder) mismatch(name, want string) {
	d.Skip()
	d.invalid(name, want)
}

// null reads the value if it is null, and reports whether it is.
func (d *decoder) null() bool {
	if d.Peek() != 'n' {
		return false
	}
	d.ReadLiteral()
	return true
}

// text reads a string into d.Text.
func (d *decoder) text(name string) bool {
	if d.Peek() != '"' {
		d.mismatch(name, "a string")
		return false
	}
	d.ReadString(true)
	if d.Truncated {
		d.invalid(name, "a shorter string")
	}
	return d.Err == nil
}

// optional reads a string or null.
func (d *decoder) optional(name string) Optional {
	if d.null() || !d.text(name) {
		return Optional{}
	}
	return Optional{string(d.Text), true}
}

// bool reads true or false.
func (d *decoder) bool(name string) bool {
	c := d.Peek()
	if c != 't' && c != 'f' {
		d.mismatch(name, "true or false")
		return false
	}
	d.ReadLiteral()
	return c == 't'
}

// triState reads true, false or null.
func (d *decoder) triState(name string) TriState {
	switch {
	case d.null():
		return Unset
	case d.bool(name):
		return Yes
	}
	return No
}

// unsigned reads an unsigned number of at most this many bits, or null.
func (d *decoder) unsigned(name string, bits int) (v uint64, ok bool) {
	if d.null() {
		return 0, false
	}
	c := d.Peek()
	if c < '0' || c > '9' {
		d.mismatch(name, "a number from 0 up")
		return 0, false
	}
	literal, integer := d.ReadNumber()
	if d.Err != nil {
		return 0, false
	}
	v, err := strconv.ParseUint(string(literal), 10, bits)
	if !integer || err != nil {
		d.invalid(name, fmt.Sprintf("a whole number of %d bits", bits))
		return 0, false
	}
	return v, true
}

// address reads a number, or a string of hexadecimal digits after 0x or of
// decimal ones. A negative number is read as the unsigned one with the same bits.
func (d *decoder) address(name string) uint64 {
	const want = `a number, or a string like "0x1f" or "31"`
	c := d.Peek()
	if c == '"' {
		d.ReadString(true)
		v, ok := parseAddress(d.Text)
		if d.Err == nil && !ok {
			d.invalid(name, want)
		}
		return v
	}
	if c != '-' && (c < '0' || c > '9') {
		d.mismatch(name, want)
		return 0
	}
	if v, ok := d.SmallInt(); ok {
		return uint64(v)
	}
	literal, integer := d.ReadNumber()
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
		d.invalid(name, want)
		return 0
	}
	return v
}

// trimPlus removes the plus sign of a number, which Symbolicator accepts.
func trimPlus(digits []byte) []byte { return bytes.TrimPrefix(digits, []byte("+")) }

func parseAddress(text []byte) (v uint64, ok bool) {
	if len(text) < 3 || text[0] != '0' || text[1]|0x20 != 'x' {
		v, err := strconv.ParseUint(string(trimPlus(text)), 10, 64)
		return v, err == nil
	}
	digits := trimPlus(text[2:])
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits { // strconv takes 7 % more of the time of a request
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

// maxNesting limits the depth of values that are copied.
const maxNesting = 64

// appendValue reads a value of any type and appends it as JSON.
func (d *decoder) appendValue(dst []byte, depth int) []byte {
	c := d.Peek()
	switch {
	case depth > maxNesting:
		d.invalid("a value", fmt.Sprintf("nested in at most %d levels", maxNesting))
	case c == '{' || c == '[':
		dst = append(dst, c)
		d.Enter()
		for n := 0; d.Next(&n); {
			if n > 1 {
				dst = append(dst, ',')
			}
			if c == '{' {
				dst = append(json.AppendQuoted(dst, d.Key()), ':')
			}
			dst = d.appendValue(dst, depth+1)
		}
		dst = append(dst, c+2)
	case c == '"':
		if d.text("a value") {
			dst = json.AppendQuoted(dst, d.Text)
		}
	case c == '-' || '0' <= c && c <= '9':
		literal, _ := d.ReadNumber()
		dst = append(dst, literal...)
	default:
		d.SkipScalar(c)
		dst = append(dst, words[c]...)
	}
	return dst
}

// words are the literals by their first letter.
var words = [256]string{'t': "true", 'f': "false", 'n': "null"}
