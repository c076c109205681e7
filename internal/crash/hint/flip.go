package hint

import (
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/unwind/rule"
)

// A Flip is an address that is usable, and differs in one bit from the one that
// was used.
type Flip struct {
	Address    uint64
	Register   string // that had the flipped bit; empty: the address itself had it
	Confidence float32
	FlipDetails
}

// FlipDetails are the evidence for a flip. Its JSON is that of rust-minidump.
type FlipDetails struct {
	WasNonCanonical bool `json:"was_non_canonical"` // the address that was used
	IsNull          bool `json:"is_null"`           // Address is 0
	WasLow          bool `json:"was_low"`           // IsNull, and the address that was used is a small number
	Nearby          int  `json:"nearby_registers"`  // registers with values near Address
	HasPoison       bool `json:"poison_registers"`  // a register has a pattern that allocators fill freed memory with
}

const (
	near = 4096     // bytes between addresses of one object
	low  = 2 * near // addresses up to it are rather numbers
)

// findFlips finds the flipped bits that may have caused the crash. On machines of
// 32 bits nearly all addresses are usable; on ARM64 the accesses are unknown.
func (a *analysis) findFlips() {
	if a.CPU.Word != 8 || a.CPU.Name == "arm64" || !a.isFault() || a.Adjusted == NullPointer || a.StackOverflow {
		return
	}
	addr, from, to := a.address, 0, 64
	switch {
	case a.Adjusted == NonCanonical:
		addr, from = a.Address, 48
	case a.isAMD64():
		to = 48
	}
	size := 0
	for _, x := range a.Accesses {
		if x.contains(a.address) {
			addr, size = x.Address, x.Size
			break
		}
	}
	a.flip(addr, "", from, to, size)

	var names []string
	for _, x := range a.Accesses {
		names = append(names, x.base, x.index)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if v, ok := a.register(name); ok {
			a.flip(v, name, from, to, size)
		}
	}
}

// contains reports whether an access includes an address.
func (x *Access) contains(addr uint64) bool { return addr-x.Address < uint64(x.Size) }

// flip adds the usable addresses that differ from addr in one of the bits from
// and up to to. An address that is usable itself has none, and neither has one
// that misses usable memory by less than the size of the access.
func (a *analysis) flip(addr uint64, register string, from, to, size int) {
	if a.isUsable(addr) {
		return
	}
	for _, r := range a.Regions {
		if r.allows(a.failed) && size > 0 && r.distance(addr) < uint64(size) {
			return
		}
	}
	for bit := from; bit < to; bit++ {
		f := Flip{Address: addr ^ 1<<bit, Register: register}
		f.WasNonCanonical = from != 0
		f.IsNull = f.Address == 0
		if !f.IsNull && !a.isUsable(f.Address) {
			continue
		}
		f.WasLow = f.IsNull && addr <= low
		a.compare(&f)
		f.Confidence = f.confidence()
		a.Flips = append(a.Flips, f)
	}
}

// isUsable reports whether the access that failed may be allowed at an address.
func (a *analysis) isUsable(addr uint64) bool {
	r, ok := a.region(addr)
	return ok && r.allows(a.failed)
}

// allows reports whether a region may allow the access that failed.
func (r Region) allows(failed bin.Protection) bool { return failed == 0 || r.Protection&failed != 0 }

// distance returns the bytes between a region and an address.
func (r Region) distance(addr uint64) uint64 {
	switch {
	case addr < r.Start:
		return r.Start - addr
	case addr > r.End:
		return addr - r.End
	}
	return 0
}

// compare compares an address with the registers.
func (a *analysis) compare(f *Flip) {
	for i := range a.CPU.Count() {
		v, ok := a.Registers.Get(rule.Reg(i))
		if !ok {
			continue
		}
		if f.Address > low && max(v, f.Address)-min(v, f.Address) <= near {
			f.Nearby++
		}
		if v == v&0xff*0x0101010101010101 && slices.Contains(poison, byte(v)) {
			f.HasPoison = true
		}
	}
}

// poison has the bytes that Mozilla's and other allocators fill memory with.
var poison = []byte{
	0x2b, 0x2d, 0x2f, 0x49, 0x4b, 0x4d, 0x4f, 0x6b, 0x8b, 0x9b, 0x9f, 0xa5, 0xbb, 0xcc, 0xcd, 0xce, 0xdb, 0xe5,
}

// confidence returns a figure between 0 and 1 that grows with the evidence. The
// numbers are rust-minidump's.
func (f *Flip) confidence() float32 {
	doubt := float32(1 - 0.25)
	if f.WasNonCanonical {
		doubt *= 1 - float32(0.9)
	}
	switch {
	case f.WasLow:
		doubt *= 1 - 0.25
	case f.IsNull:
		doubt *= 1 - 0.5
	}
	if f.Nearby > 0 {
		doubt *= 1 - [...]float32{0.5, 0.55, 0.6, 0.65}[min(f.Nearby, 4)-1]
	}
	if f.HasPoison {
		return (1 - doubt) * 0.5
	}
	return 1 - doubt
}
