package symbolicate

import "symbolon/internal/ident"

// Step selects the address of a frame that is looked up.
type Step uint8

const (
	Exact   Step = iota // the address
	Aligned             // the start of the instruction at the address
	Before              // the previous instruction: the address is a return address

	before // before the start of the module: set by the engine
)

// grid describes the instructions of an architecture: they are at multiples of
// align, and back is the distance from a return address to its call.
type grid struct{ align, back uint64 }

func gridOf(a ident.Arch) grid {
	switch {
	case a >= ident.ArchARM && a <= ident.ArchARMv7em:
		return grid{2, 2}
	case a >= ident.ArchARM64 && a <= ident.ArchARM64_32v8, a == ident.ArchPPC, a == ident.ArchWasm32, a == ident.ArchWasm64:
		return grid{4, 4}
	case a == ident.ArchPPC64 || a == ident.ArchPPC64le:
		return grid{8, 8}
	case a >= ident.ArchMIPS && a <= ident.ArchMIPS64el: // a delay slot follows a call
		return grid{4, 8}
	}
	return grid{1, 1}
}

// step returns the address that is looked up.
func (g grid) step(addr uint64, s Step) uint64 {
	if s != Exact {
		addr -= addr % g.align
	}
	if s == Before {
		addr -= g.back
	}
	return addr
}

// base returns the address of the start of a module, in the addresses of its frames.
func (r *Result) base(m int32) uint64 {
	if m >= 0 && int(m) < len(r.req.Linked) && r.req.Linked[m] {
		return r.Modules[m].LoadAddress
	}
	if m < 0 || int(m) >= len(r.req.Bases) {
		return 0
	}
	return r.req.Bases[m]
}

// place converts addresses of loaded modules to relative ones, from one frame
// up to another, after their step, which depends on the architecture in the
// module's file.
func (r *Result) place(from, to int) {
	if r.req.Bases == nil && r.req.Linked == nil {
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
