package apple

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"symbolon/internal/filter"
)

// node is a line of a call tree: the count of its samples, and a text.
type node struct {
	column   int // of the count, which is the depth
	isKernel bool
	at       int    // of the text in the line
	text     []byte // empty if the line is another
}

// parseNode parses a line. The count follows blanks and the lines of the tree, and for a
// frame of the kernel a star.
func parseNode(body []byte) (n node) {
	for n.column < len(body) && strings.IndexByte(" +!:|", body[n.column]) >= 0 {
		n.column++
	}
	rest := body[n.column:]
	rest, n.isKernel = bytes.CutPrefix(rest, []byte("*"))
	text := bytes.TrimLeft(rest, "0123456789")
	if len(text) == len(rest) || len(text) == 0 || text[0] != ' ' {
		return n
	}
	n.text = bytes.TrimLeft(text, " ")
	n.at = len(body) - len(n.text)
	return n
}

// call is a node without a name.
type call struct {
	column, from int
	size         int    // of the text that names replace
	image        []byte // its name, or its UUID in angle brackets
	base         uint64 // of the image
	addrs        []uint64
	list         []byte // the addresses in brackets
	place        []byte // in reports of spindump, the image and the offset
	isReturn     bool
	index        int // of the first address in the query; -1: none
}

// The texts of nodes without a name, of sample and spindump.
var (
	sampled = regexp.MustCompile(`^\?\?\?  \(in (.+)\)  load address 0x([0-9a-f]+) \+ 0x[0-9a-fx,.]+  \[(0x[0-9a-fx,.]+)\]`)
	spun    = regexp.MustCompile(`^\?\?\? \(([^[]+) \+ ([0-9]+)\) \[(0x[0-9a-f]+)\]`)
)

func parseCall(text []byte) (c call, ok bool) {
	if !bytes.HasPrefix(text, []byte("??? ")) {
		return c, false
	}
	radix := 16
	m := sampled.FindSubmatchIndex(text)
	if m == nil {
		if m = spun.FindSubmatchIndex(text); m == nil {
			return c, false
		}
		radix = 10
		c.place = text[m[2]:m[5]]
	}
	c.size, c.image, c.list, c.index = m[1], text[m[2]:m[3]], text[m[6]:m[7]], -1
	value, err := strconv.ParseUint(string(text[m[4]:m[5]]), radix, 64)
	for word := range strings.SplitSeq(strings.TrimSuffix(string(c.list), ",..."), ",") {
		addr, werr := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 64)
		if err != nil || werr != nil || addr < value {
			return c, false
		}
		c.addrs = append(c.addrs, addr)
	}
	if c.base = value; c.place != nil {
		c.base = c.addrs[0] - value
	}
	return c, true
}

// appendNamed appends the text with a name, or returns nil without one, which all addresses
// must have. Inlined calls follow the place of the innermost one.
//
//	NAME  (in IMAGE) + OFFSET  [ADDRESS]  CALL at FILE:LINE, FILE:LINE
//	NAME + OFFSET (CALL at FILE:LINE, FILE:LINE in IMAGE + OFFSET) [ADDRESS]
func (c *call) appendNamed(dst []byte, answer filter.Answer) []byte {
	var name, offsets, source []byte
	for i, addr := range c.addrs {
		frames := answer.Frames(c.index + i)
		if len(frames) == 0 {
			return nil
		}
		f := &frames[len(frames)-1]
		switch same := f.AppendName(nil); {
		case i == 0:
			name, source = same, appendSource(nil, frames)
		case !bytes.Equal(same, name):
			return nil
		default:
			offsets = append(offsets, ',')
		}
		offsets = strconv.AppendUint(offsets, addr-c.base-min(addr-c.base, f.Entry), 10)
	}
	dst = append(dst, name...)
	if c.place == nil {
		if bytes.HasSuffix(c.list, []byte(",...")) {
			offsets = append(offsets, ",..."...)
		}
		dst = append(append(append(append(dst, "  (in "...), c.image...), ") + "...), offsets...)
		dst = append(append(append(dst, "  ["...), c.list...), ']')
		if len(source) > 0 {
			dst = append(append(dst, "  "...), source...)
		}
		return dst
	}
	dst = append(append(append(dst, " + "...), offsets...), " ("...)
	if len(source) > 0 {
		dst = append(append(dst, source...), " in "...)
	}
	return append(append(append(append(dst, c.place...), ") ["...), c.list...), ']')
}

// appendSource appends the places of frames, after the names of those that are inlined.
func appendSource(dst []byte, frames []filter.Frame) []byte {
	for i := range frames {
		f := &frames[i]
		isInlined := i+1 < len(frames)
		hasPlace := len(f.File) > 0 && f.Line > 0
		if i > 0 && (isInlined || hasPlace) {
			dst = append(dst, ", "...)
		}
		if isInlined {
			dst = f.AppendName(dst)
		}
		if isInlined && hasPlace {
			dst = append(dst, " at "...)
		}
		if hasPlace {
			dst = filter.AppendText(dst, f.File)
			dst = strconv.AppendUint(append(dst, ':'), uint64(f.Line), 10)
		}
	}
	return dst
}
