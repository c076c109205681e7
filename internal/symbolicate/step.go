package symbolicate

import "symbolon/internal/ident"

// Step says which address of a frame is meant.
type Step uint8

const (
	Exact   Step = iota // the address as it is
	Aligned             // where the instruction at the address begins
	Before              // the instruction before: the address is one to return to

	before // not in the module: set by the engine
)

// grid is how the instructions of an architecture lie: on multiples of align,
// and back is how far it is from the one a call returns to into the call.
type grid struct{ align, back uint64 }

func gridOf(a ident.Arch) grid {
	switch {
	case a >= ident.ArchARM && a <= ident.ArchARMv7em:
		return grid{2, 2}
	case a >= ident.ArchARM64 && a <= ident.ArchARM64_32v8, a == ident.ArchPPC, a == ident.ArchWasm32, a == ident.ArchWasm64:
		return grid{4, 4}
	case a == ident.ArchPPC64 || a == ident.ArchPPC64le:
		return grid{8, 8}
	case a >= ident.ArchMIPS && a <= ident.ArchMIPS64el: // a call has one more instruction behind it
		return grid{4, 8}
	}
	return grid{1, 1}
}

// step is the address that is meant.
func (g grid) step(addr uint64, s Step) uint64 {
	if s != Exact {
		addr -= addr % g.align
	}
	if s == Before {
		addr -= g.back
	}
	return addr
}

// base is where a module is loaded.
func (r *Result) base(m int32) uint64 {
	if m < 0 || int(m) >= len(r.req.Bases) {
		return 0
	}
	return r.req.Bases[m]
}

// place makes the addresses of loaded modules relative, from one frame up to
// another, after their step, which depends on what the file of the module says
// of its architecture.
func (r *Result) place(from, to int) {
	if r.req.Bases == nil {
		return
	}
	for i := from; i < to; i++ {
		f := &r.req.Frames[i]
		base := r.base(f.Module)
		if base == 0 || !r.Modules[f.Module].Found {
			continue
		}
		if addr := gridOf(r.Modules[f.Module].Arch).step(f.Addr, f.Step); addr >= base && addr <= f.Addr {
			f.Addr, f.Step = addr-base, Exact
		} else {
			f.Addr, f.Step = addr-base, before
		}
	}
}
