package mozilla

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"symbolon/internal/symbolicate"
)

// readStacks reads the value of "stacks".
func (j *jobReader) readStacks(string) {
	j.stacks = member{isPresent: true}
	j.req.stacks = j.req.stacks[:j.job.stacks.from]
	j.req.query.Frames, j.req.special = j.req.query.Frames[:j.frames], j.req.special[:j.special]
	if j.Peek() != '[' {
		j.Skip()
		j.stacks.invalid = "stacks must be a list of lists"
		return
	}
	j.Enter()
	n := 0
	for j.Next(&n) {
		switch limit := j.is.limits.MaxFrames; {
		case j.stacks.invalid != "":
			j.Skip()
		case j.Peek() != '[':
			j.Skip()
			j.stacks.invalid = fmt.Sprintf("stack %d is not a list", n-1)
		case limit >= 0 && len(j.req.stacks) >= limit:
			j.tooMany("stacks", limit)
		default:
			j.readStack(n - 1)
			j.req.stacks = append(j.req.stacks, int32(len(j.req.query.Frames)))
		}
	}
	if n == 0 && !j.is.tecken {
		j.stacks.invalid = "no stacks specified"
	}
}

func (j *jobReader) readStack(stack int) {
	j.Enter()
	for n := 0; j.Next(&n); {
		if j.stacks.invalid != "" {
			j.Skip()
		} else if invalid := j.readFrame(); invalid != "" {
			j.stacks.invalid = fmt.Sprintf("stack %d frame %d%s", stack, n-1, invalid)
		}
	}
}

// readFrame reads a frame and keeps it, even if its offset is invalid: an error
// of its index comes first.
func (j *jobReader) readFrame() (invalid string) {
	const shape = " is not a list of two items"
	if j.Peek() != '[' {
		j.Skip()
		return shape
	}
	j.Enter()
	var f symbolicate.Frame
	var special specialOffset
	var hasIndex, hasOffset bool
	n := 0
	for j.Next(&n) {
		switch n {
		case 1:
			f.Module, hasIndex = j.readIndex()
		case 2:
			f.Addr, hasOffset = j.readOffset(&special)
		default:
			j.Skip()
		}
	}
	switch {
	case n != 2:
		return shape
	case !hasIndex:
		return " has an invalid module_index"
	}
	if limit := j.is.limits.MaxFrames; limit >= 0 && len(j.req.query.Frames) >= limit {
		j.tooMany("frames", limit)
		return ""
	}
	if special.text != "" {
		special.frame = len(j.req.query.Frames)
		j.req.special = append(j.req.special, special)
	}
	j.req.query.Frames = append(j.req.query.Frames, f)
	if !hasOffset {
		return " has an invalid module_offset"
	}
	return ""
}

// resolve replaces the indexes in the frames of the current job with indexes of modules
// of the request. It returns the first error of the stacks: an invalid index, since
// errors of frames come first, or else stacks.invalid.
func (j *jobReader) resolve() (invalid string) {
	modules := j.req.maps[j.job.maps.from:]
	frames := j.req.query.Frames
	k := j.frames
	for i, end := range j.req.stacks[j.job.stacks.from:] {
		for from := k; k < int(end); k++ {
			m := frames[k].Module
			if m < -1 || int(m) >= len(modules) {
				return fmt.Sprintf("stack %d frame %d has a module_index that isn't in modules", i, k-from)
			}
			if m >= 0 {
				frames[k].Module = modules[m]
			}
		}
	}
	for _, o := range j.req.special[j.special:] {
		if o.isBare {
			frames[o.frame].Module = -1
		}
	}
	return j.stacks.invalid
}

// readIndex reads an index into the memoryMap. One that does not fit becomes
// another invalid one.
func (j *jobReader) readIndex() (index int32, ok bool) {
	c := j.Peek()
	v, ok := j.SmallInt()
	if !ok {
		literal, kind := j.readNumber(c)
		if kind != integer {
			return 0, false
		}
		v, _ = strconv.ParseInt(string(literal), 10, 64) // out of range, it is the nearest value
	}
	if j.is.tecken && v < 0 {
		v = -1
	}
	return int32(min(max(v, -2), math.MaxInt32)), true
}

// numberKind is the kind of a number, which decides whether Eliot accepts it as an
// integer.
type numberKind int

const (
	notNumber numberKind = iota
	integer
	fraction // written with a point or an exponent, whatever its value
	tooLong  // an integer of more than maxDigits
)

// maxDigits is the limit that Eliot's runtime has for an integer.
const maxDigits = 4300

// readNumber reads a value that begins with c. The literal is valid until the
// next read.
func (j *jobReader) readNumber(c byte) (literal []byte, kind numberKind) {
	if c != '-' && (c < '0' || c > '9') {
		j.Skip()
		return nil, notNumber
	}
	literal, isInteger := j.ReadNumber()
	switch {
	case !isInteger:
		return literal, fraction
	case len(bytes.TrimPrefix(literal, []byte("-"))) > maxDigits:
		return literal, tooLong
	}
	return literal, integer
}

// noAddress is the address of frames with a special offset: their module is looked
// up, and the answer for the frame is not used.
const noAddress = math.MaxUint64

// readOffset reads an offset. One that is not an address goes to special.
func (j *jobReader) readOffset(special *specialOffset) (addr uint64, ok bool) {
	c := j.Peek()
	if v, ok := j.SmallInt(); ok {
		return j.offset(v, special)
	}
	literal, kind := j.readNumber(c)
	switch {
	case kind == fraction && j.is.tecken:
		special.text, special.isBare = string(literal), true
		return noAddress, true
	case kind != integer:
		return noAddress, false
	}
	if v, err := strconv.ParseInt(string(literal), 10, 64); err == nil {
		return j.offset(v, special)
	}
	if addr, err := strconv.ParseUint(string(literal), 10, 64); err == nil {
		return addr, true
	}
	if c == '-' && !j.is.tecken {
		return noAddress, false
	}
	special.text = hexText(literal)
	return noAddress, true
}

// offset checks an offset that fits in 64 bits.
func (j *jobReader) offset(v int64, special *specialOffset) (addr uint64, ok bool) {
	switch {
	case v >= 0:
		return uint64(v), true
	case v == -1:
		special.text = "-0x1"
	case j.is.tecken:
		special.text = "-0x" + strconv.FormatUint(-uint64(v), 16)
	default:
		return noAddress, false
	}
	return noAddress, true
}

// hexText returns an integer of any length in the form of the answer.
func hexText(decimal []byte) string {
	v, _ := new(big.Int).SetString(string(decimal), 10)
	if v.Sign() < 0 {
		return "-0x" + v.Neg(v).Text(16)
	}
	return "0x" + v.Text(16)
}
