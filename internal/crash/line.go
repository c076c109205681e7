package crash

import "symbolon/internal/sym"

// Bounds of LineStart, which looks up one address after the other.
const (
	maxLine  = 4 << 10 // bytes of a line; few have as many as 300
	maxSteps = 1 << 18 // lookups for a report; 5,000 frames need about 100,000
)

// LineStart returns the address of the first instruction of the line that f executes,
// in the function that contains it or, with innermost, in the innermost inlined call.
// It is not ok if the start is unknown. A Report must not be released before.
func (r *Report) LineStart(f *Frame, innermost bool) (addr uint64, ok bool) {
	if f.Module < 0 || len(f.Functions) == 0 || r.modules.opened[f.Module].names == nil {
		return 0, false
	}
	names, base := r.modules.opened[f.Module].names, r.Modules[f.Module].Base
	var here, before [8]sym.Frame
	frames := names.Lookup(here[:0], f.Addr-base)
	for addr = f.Addr; f.Addr-addr < maxLine && r.steps < maxSteps; addr-- {
		r.steps++
		if addr <= base || !isSameLine(frames, names.Lookup(before[:0], addr-1-base), innermost) {
			return addr, true
		}
	}
	return 0, false
}

// isSameLine reports whether the frames of two addresses are in the same line of
// their last functions, and the same call that is inlined there; or else in the same
// line of the innermost ones.
func isSameLine(a, b []sym.Frame, innermost bool) bool {
	if len(a) == 0 || len(b) == 0 || (len(a) == 1) != (len(b) == 1) && !innermost {
		return false
	}
	x, y := len(a)-1, len(b)-1
	if innermost {
		x, y = 0, 0
	}
	isSame := a[x].Func == b[y].Func && a[x].Entry == b[y].Entry && a[x].File == b[y].File && a[x].Line == b[y].Line
	return isSame && (innermost || x == 0 || a[x-1].Func == b[y-1].Func)
}
