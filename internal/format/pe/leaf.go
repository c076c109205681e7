package pe

import (
	"cmp"
	"slices"
)

// leafInfo is the unwind information of a function that the exception directory
// omits. No entry has this value.
const leafInfo = 1<<32 - 1

// isPadding reports whether a byte can be between functions.
func isPadding(b byte) bool { return b == 0xcc || b == 0x90 || b == 0 }

// leaves yields the code that none of the entries covers, until yield returns false:
// a function that calls none, and changes neither the stack pointer nor a register
// that calls preserve, has no entry. System calls of Windows are such functions.
// Padding is not code. Without an exception directory, nothing is known.
func (f *File) leaves(covered []entry, yield func(entry) bool) {
	if len(covered) == 0 {
		return
	}
	byStart := func(a, b entry) int { return cmp.Compare(a.start, b.start) }
	slices.SortFunc(covered, byStart)
	var code []entry
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Code() && s.Addr+s.Size > s.Addr {
			code = append(code, entry{start: s.Addr, end: s.Addr + s.Size})
		}
	}
	slices.SortFunc(code, byStart)
	at, budget := uint32(0), f.src.Size() // bytes of sections that share their content are not read again and again
	for _, s := range code {
		for at = max(at, s.start); at < s.end; {
			end := s.end
			for len(covered) > 0 && covered[0].end <= at {
				covered = covered[1:]
			}
			if len(covered) > 0 {
				end = min(end, covered[0].start)
			}
			if end <= at {
				at = covered[0].end
				continue
			}
			b := f.Mapped(at, int64(end-at))
			if budget -= int64(len(b)); budget < 0 {
				return
			}
			e := entry{at, at + uint32(len(b)), leafInfo}
			for ; len(b) > 0 && isPadding(b[0]); b = b[1:] {
				e.start++
			}
			for ; len(b) > 0 && isPadding(b[len(b)-1]); b = b[:len(b)-1] {
				e.end--
			}
			if at = end; len(b) > 0 && !yield(e) {
				return
			}
		}
	}
}

// leaf writes the record of code without an entry: the return address is where the
// call left it.
func (u *unwinder) leaf(e entry) (why string) {
	if u.file.Machine == machineX64 {
		u.begin(e, &x64Registers)
		u.now.alloc(8, x64Stack)
		u.now.save(x64Return, 0)
	} else {
		u.begin(e, &arm64Registers)
	}
	u.row(e.start)
	return ""
}
