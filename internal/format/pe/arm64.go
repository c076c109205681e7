package pe

const (
	arm64Frame  = 29
	arm64Return = 30
	arm64Stack  = 31
	arm64Double = 32 // d0

	// arm64Chain and arm64End end codes. The codes after arm64Chain belong to
	// the enclosing function, whose prolog has already been executed.
	arm64Chain = 0xe5
	arm64End   = 0xe4
)

var arm64Registers = registers{
	names: [maxRegisters]string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", ".ra", "sp",
		"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15"},
	stack: arm64Stack, ret: arm64Return, link: "x30",
}

// infoARM64 is the unwind information of an entry. Each code describes an
// instruction, the last one first; the codes of an epilog are in the order of
// its instructions, and often the same bytes.
type infoARM64 struct {
	size   uint32 // of the function in bytes
	codes  []byte
	scopes []byte // {offset of an epilog, its first code}
	single int    // the first code of the only epilog, at the end of the function; -1: there are scopes
}

func (f *File) infoARM64(e entry) (x infoARM64, why string) {
	switch e.info & 3 {
	case 0:
	case 1, 2:
		return packedARM64(e.info)
	default:
		return x, "unknown kind of unwind information"
	}
	head := f.Mapped(e.info, 8)
	if len(head) < 4 {
		return x, "unwind information is beyond the end of the file"
	}
	w, at := le.Uint32(head), uint32(4)
	epilogs, words := w>>22&31, w>>27
	if epilogs == 0 && words == 0 && len(head) == 8 {
		epilogs, words, at = le.Uint32(head[4:])&0xffff, le.Uint32(head[4:])>>16&0xff, 8
	}
	x.size, x.single = w&(1<<18-1)*4, -1
	if w>>21&1 != 0 {
		x.single, epilogs = int(epilogs), 0
	}
	x.scopes = f.Mapped(e.info+at, int64(epilogs)*4)
	x.codes = f.Mapped(e.info+at+epilogs*4, int64(words)*4)
	if len(x.scopes) < int(epilogs)*4 || len(x.codes) < int(words)*4 {
		return x, "unwind codes are beyond the end of the file"
	}
	return x, ""
}

// partARM64 reports whether an entry is a part of another function.
func (f *File) partARM64(e entry) bool {
	x, why := f.infoARM64(e)
	return why == "" && len(x.codes) > 0 && x.codes[0] == arm64Chain
}

// arm64 writes the records of a function.
func (u *unwinder) arm64(e entry) (why string) {
	x, why := u.file.infoARM64(e)
	if why != "" {
		return why
	}
	if e.end = e.start + x.size; e.end <= e.start {
		return "invalid size"
	}
	u.begin(e, &arm64Registers)
	n := countARM64(x.codes)
	for i := range n + 1 {
		if !u.frameAfter(x.codes, n-i) {
			return "unknown unwind code, or too many"
		}
		u.row(e.start + uint32(i)*4)
	}
	u.body, u.minAddr = u.now, e.start+uint32(n)*4
	if x.single >= 0 && x.single < len(x.codes) {
		size := uint32(countARM64(x.codes[x.single:])+1) * 4
		u.epilog(e.end-min(x.size, size), x.codes[x.single:])
	}
	for s := x.scopes; len(s) >= 4; s = s[4:] {
		w := le.Uint32(s)
		u.epilog(e.start+w&(1<<18-1)*4, x.codes[min(int(w>>22), len(x.codes)):])
	}
	return ""
}

// epilog writes the rows of an epilog, and the one after it.
func (u *unwinder) epilog(at uint32, codes []byte) {
	if at < u.minAddr || at >= u.end {
		u.problem(u.start, "epilogs overlap, or are outside of the function")
		return
	}
	n := countARM64(codes)
	for i := range n + 1 {
		if !u.frameAfter(codes, i) {
			u.problem(u.start, "unknown unwind code in an epilog, or too many")
			return
		}
		u.row(at + uint32(i)*4)
	}
	u.now, u.minAddr = u.body, at+uint32(n+1)*4
	u.row(u.minAddr)
}

// sizeARM64 returns the number of bytes of a code.
func sizeARM64(code byte) int {
	switch {
	case code < 0xc0 || code >= 0xe1 && code != 0xe2 && code != 0xe7 && (code < 0xf8 || code > 0xfb):
		return 1
	case code == 0xe0:
		return 4
	case code == 0xe7:
		return 3
	case code >= 0xf8:
		return int(code) - 0xf8 + 2
	}
	return 2
}

// countARM64 returns the number of instructions described by codes.
func countARM64(codes []byte) (n int) {
	for len(codes) > 0 && codes[0] != arm64End && codes[0] != arm64Chain {
		codes = codes[min(sizeARM64(codes[0]), len(codes)):]
		n++
	}
	return n
}

// frameAfter computes the frame after the instructions of all codes except the
// first skip ones have been executed.
func (u *unwinder) frameAfter(codes []byte, skip int) bool {
	u.now = frame{base: arm64Stack}
	var starts [1024]uint16
	n := 0
	for at := 0; at < len(codes) && codes[at] != arm64End; at += sizeARM64(codes[at]) {
		if at+sizeARM64(codes[at]) > len(codes) {
			return false
		}
		switch {
		case codes[at] == arm64Chain:
		case skip > 0:
			skip--
		default:
			starts[n] = uint16(at)
			n++
		}
	}
	pair := savedPair{}
	for n--; n >= 0; n-- {
		if !u.step() || !u.codeARM64(codes[starts[n]:], &pair) {
			return false
		}
	}
	return true
}

// savedPair is the last pair of saved registers, and its offset.
type savedPair struct {
	first uint8
	off   int64
}
