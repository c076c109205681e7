package pe

// packedARM64 decodes an entry without a record of its own: a function with the
// most common prolog and epilog. The bits are, from the lowest: kind 2, size in
// instructions 11, registers from d8 on 3, from x19 on 4, parameters are saved
// 1, how the return address is saved 2, size of the frame 9.
func packedARM64(w uint32) (x infoARM64, why string) {
	p := packed{doubles: int64(w >> 13 & 7), ints: int64(w >> 16 & 15), saveParams: w>>20&1 != 0, link: w >> 21 & 3}
	if p.doubles > 0 {
		p.doubles++
	}
	p.area = 8 * (p.ints + p.doubles)
	if p.link == linkSaved {
		p.area += 8
	}
	if p.saveParams {
		p.area += 64
	}
	p.area = (p.area + 15) &^ 15
	p.local = int64(w>>23)*16 - p.area
	if p.local < 0 || p.ints > 10 {
		return x, "invalid packed unwind information"
	}
	p.prolog()
	var codes []byte
	if w&3 == 2 { // a part of a function, without prolog and epilog
		codes = append(codes, arm64Chain)
	}
	x.size, x.single = w>>2&0x7ff*4, -1
	codes = append(p.reversed(codes, true), arm64End)
	if w&3 == 1 {
		x.single = len(codes)
		codes = append(p.reversed(codes, false), arm64End)
	}
	x.codes = codes
	return x, ""
}

// How the return address is saved: with the registers, or with the frame
// pointer at the bottom of the frame, optionally signed.
const (
	linkSaved  = 1
	linkSigned = 2
	linkFrame  = 3
)

// packed is an entry of packed unwind information.
type packed struct {
	ints, doubles int64 // numbers of registers
	saveParams    bool  // parameters are saved
	link          uint32
	area, local   int64 // sizes of the area of saved registers, and of the area below it

	codes  [24]uint16 // of the prolog, in its order; the upper byte is 0 for a code of one byte
	n      int
	params [2]int // first and end index of those that save parameters, and are not undone
}

func (p *packed) add(code uint16) {
	p.codes[p.n] = code
	p.n++
}

// reversed appends the codes, the last one first.
func (p *packed) reversed(dst []byte, prolog bool) []byte {
	for i := p.n - 1; i >= 0; i-- {
		if !prolog && i >= p.params[0] && i < p.params[1] {
			continue
		}
		if p.codes[i] > 0xff {
			dst = append(dst, byte(p.codes[i]>>8))
		}
		dst = append(dst, byte(p.codes[i]))
	}
	return dst
}

// prolog builds the codes of the prolog.
func (p *packed) prolog() {
	if p.link == linkSigned {
		p.add(0xfc)
	}
	p.saveInts()
	p.saveDoubles()
	p.params[0] = p.n
	if p.saveParams {
		if p.ints == 0 && p.doubles == 0 && p.link != linkSaved {
			p.alloc(p.area)
			p.params[0]++
		}
		for p.n < p.params[0]+4 {
			p.add(0xe3)
		}
	}
	p.params[1] = p.n
	if p.link >= linkSigned {
		if p.local <= 512 {
			p.add(uint16(0x80 | (p.local/8-1)&63))
		} else {
			p.alloc(p.local)
			p.add(0x40)
		}
		p.add(0xe1)
	} else if p.local > 0 {
		p.alloc(p.local)
	}
}

// alloc moves the stack pointer; one instruction can move it by up to 4080.
func (p *packed) alloc(size int64) {
	if size > 4080 {
		p.add(uint16(0xc000 | 4080/16))
		size -= 4080
	}
	p.add(uint16(0xc000 | size/16))
}

// saveInts saves registers from x19 on, the last one possibly with the return
// address. The first instruction allocates the whole area.
func (p *packed) saveInts() {
	area := uint16(p.area/8-1) & 63
	last := p.link == linkSaved
	switch {
	case p.ints == 0 && last:
		p.add(0xd400 | 11<<5 | area&31) // x30
		return
	case p.ints == 1 && last:
		p.alloc(p.area)
		p.add(0xd600)
		return
	case p.ints == 0:
		return
	case p.ints == 1:
		p.add(0xd400 | area&31)
	default:
		p.add(0xcc00 | area)
	}
	at := int64(2)
	for ; at+1 < p.ints; at += 2 {
		p.add(uint16(0xc800 | at<<6 | at))
	}
	switch {
	case at < p.ints && last:
		p.add(uint16(0xd600 | at/2<<6 | at))
	case at < p.ints:
		p.add(uint16(0xd000 | at<<6 | at))
	case last:
		p.add(uint16(0xd000 | 11<<6 | at))
	}
}

// saveDoubles saves registers from d8 on.
func (p *packed) saveDoubles() {
	from := p.ints
	if p.link == linkSaved {
		from++
	}
	at := int64(0)
	if p.doubles > 0 && from == 0 {
		p.add(0xda00 | uint16(p.area/8-1)&63)
		at = 2
	}
	for ; at+1 < p.doubles; at += 2 {
		p.add(uint16(0xd800 | at<<6 | (from + at)))
	}
	if at < p.doubles {
		p.add(uint16(0xdc00 | at<<6 | (from + at)))
	}
}
