package dwarf

import (
	"bytes"
	"encoding/binary"
)

// Forms: the encodings of attribute values. The numbers are those of the
// standard; those of vendor extensions are internal, so that a form fits into a
// byte.
const (
	formNone, formAddr, formBlock2, formBlock4, formData2, formData4  = 0x00, 0x01, 0x03, 0x04, 0x05, 0x06
	formData8, formString, formBlock, formBlock1, formData1, formFlag = 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c
	formSdata, formStrp, formUdata, formRefAddr, formRef1, formRef2   = 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12
	formRef4, formRef8, formRefUdata, formIndirect, formSecOffset     = 0x13, 0x14, 0x15, 0x16, 0x17
	formExprloc, formFlagPresent, formStrx, formAddrx, formRefSup4    = 0x18, 0x19, 0x1a, 0x1b, 0x1c
	formStrpSup, formData16, formLineStrp, formRefSig8, formImplicit  = 0x1d, 0x1e, 0x1f, 0x20, 0x21
	formRnglistx, formRefSup8, formStrx1, formStrx2, formStrx3        = 0x23, 0x24, 0x25, 0x26, 0x27
	formStrx4, formAddrx1, formAddrx2, formAddrx3, formAddrx4         = 0x28, 0x29, 0x2a, 0x2b, 0x2c
	formLoclistx, formRefAlt, formAddrxOffset                         = 0x22, 0x2d, 0x2e // DW_FORM_GNU_ref_alt, DW_FORM_LLVM_addrx_offset

	sizeVaries  = -1 // of a form: the size is in the data
	sizeUnknown = -2 // of a form that is not supported

	sizeAddr    = -3 // of a form: layout.addr
	sizeOffset  = -4 // of a form: layout.off
	sizeRefAddr = -5 // of a form: layout.refAddr
)

// formByte returns the form for its number in an abbreviation, or formNone.
func formByte(n uint64) uint8 {
	switch n {
	case 0x1f01: // DW_FORM_GNU_addr_index
		return formAddrx
	case 0x1f02: // DW_FORM_GNU_str_index
		return formStrx
	case 0x1f20:
		return formRefAlt
	case 0x1f21: // DW_FORM_GNU_strp_alt
		return formStrpSup
	case 0x2001:
		return formAddrxOffset
	}
	if n > formAddrx4 {
		return formNone
	}
	return uint8(n)
}

// layout has the sizes that depend on the unit.
type layout struct {
	addr    uint8 // bytes of an address: 2, 4 or 8
	off     uint8 // bytes of an offset: 4, or 8 in 64-bit DWARF
	refAddr uint8 // bytes of DW_FORM_ref_addr: an address in version 2
}

// formSizes has the size of each form in bytes; negative ones depend on the layout
// or the data.
var formSizes = [...]int8{
	formNone: sizeUnknown, 0x02: sizeUnknown,
	formBlock2: sizeVaries, formBlock4: sizeVaries, formString: sizeVaries, formBlock: sizeVaries,
	formBlock1: sizeVaries, formSdata: sizeVaries, formUdata: sizeVaries, formRefUdata: sizeVaries,
	formIndirect: sizeVaries, formExprloc: sizeVaries, formStrx: sizeVaries, formAddrx: sizeVaries,
	formLoclistx: sizeVaries, formRnglistx: sizeVaries, formAddrxOffset: sizeVaries,
	formAddr: sizeAddr,
	formStrp: sizeOffset, formSecOffset: sizeOffset, formStrpSup: sizeOffset,
	formLineStrp: sizeOffset, formRefAlt: sizeOffset,
	formRefAddr:     sizeRefAddr,
	formFlagPresent: 0, formImplicit: 0,
	formData1: 1, formFlag: 1, formRef1: 1, formStrx1: 1, formAddrx1: 1,
	formData2: 2, formRef2: 2, formStrx2: 2, formAddrx2: 2,
	formStrx3: 3, formAddrx3: 3,
	formData4: 4, formRef4: 4, formRefSup4: 4, formStrx4: 4, formAddrx4: 4,
	formData8: 8, formRef8: 8, formRefSig8: 8, formRefSup8: 8,
	formData16: 16,
}

// size returns the number of bytes of a form, or sizeVaries or sizeUnknown.
func (l layout) size(form uint8) int {
	switch n := formSizes[form]; n {
	case sizeAddr:
		return int(l.addr)
	case sizeOffset:
		return int(l.off)
	case sizeRefAddr:
		return int(l.refAddr)
	default:
		return int(n)
	}
}

// reader reads numbers of a byte order from slices. An offset of -1 marks a
// value beyond the end; methods accept it and return it.
type reader struct{ big bool }

// uint returns the number of n bytes at p. The caller has checked the bounds.
func (r reader) uint(b []byte, p, n int) uint64 {
	switch {
	case n == 1:
		return uint64(b[p])
	case n == 4 && !r.big:
		return uint64(binary.LittleEndian.Uint32(b[p:]))
	case n == 2 && !r.big:
		return uint64(binary.LittleEndian.Uint16(b[p:]))
	case n == 8 && !r.big:
		return binary.LittleEndian.Uint64(b[p:])
	case r.big:
		v := uint64(0)
		for _, c := range b[p : p+n] {
			v = v<<8 | uint64(c)
		}
		return v
	}
	v := uint64(0)
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[p+i])
	}
	return v
}

// number returns the number of n bytes at p and the offset after it.
func (r reader) number(b []byte, p, n int) (uint64, int) {
	if p < 0 || len(b)-p < n {
		return 0, -1
	}
	return r.uint(b, p, n), p + n
}

// uleb returns the unsigned LEB128 number at p and the offset after it. Bits
// above 64 are dropped.
func uleb(b []byte, p int) (uint64, int) {
	if uint(p) < uint(len(b)) && b[p] < 0x80 {
		return uint64(b[p]), p + 1
	}
	return longUleb(b, p)
}

// longUleb is separate so that uleb can be inlined.
func longUleb(b []byte, p int) (v uint64, _ int) {
	for shift := uint(0); uint(p) < uint(len(b)); shift += 7 {
		v |= uint64(b[p]&0x7f) << shift
		p++
		if b[p-1] < 0x80 {
			return v, p
		}
	}
	return 0, -1
}

// sleb returns the signed LEB128 number at p, sign-extended to 64 bits.
func sleb(b []byte, p int) (uint64, int) {
	v, end := uleb(b, p)
	if end > p {
		if n := 7 * uint(end-p); n < 64 && b[end-1]&0x40 != 0 {
			v |= ^uint64(0) << n
		}
	}
	return v, end
}

// ahead returns the offset n bytes after p, -1 if b ends before it.
func ahead(b []byte, p int, n uint64) int {
	if p < 0 || n > uint64(len(b)-p) {
		return -1
	}
	return p + int(n)
}

// value returns the undecoded value at p and the offset after it: a number, an
// index, an offset, a reference; for a string or a block in the data its
// offset. The form must not be formIndirect.
func (r reader) value(b []byte, p int, form uint8, l layout) (uint64, int) {
	switch n := l.size(form); {
	case n == 16:
		return uint64(p), ahead(b, p, 16)
	case n >= 0:
		return r.number(b, p, n)
	case n == sizeUnknown:
		return 0, -1
	}
	var n uint64
	at := uint64(p)
	switch form {
	case formString:
		if i := bytes.IndexByte(b[min(uint(p), uint(len(b))):], 0); i >= 0 {
			return at, p + i + 1
		}
		return 0, -1
	case formBlock1:
		n, p = r.number(b, p, 1)
		return at, ahead(b, p, n)
	case formBlock2:
		n, p = r.number(b, p, 2)
		return at, ahead(b, p, n)
	case formBlock4:
		n, p = r.number(b, p, 4)
		return at, ahead(b, p, n)
	case formBlock, formExprloc:
		n, p = uleb(b, p)
		return at, ahead(b, p, n)
	case formSdata:
		return sleb(b, p)
	}
	v, end := uleb(b, p)
	if form == formAddrxOffset {
		var off uint64
		off, end = r.number(b, end, 4)
		v = v&(1<<32-1) | off<<32
	}
	return v, end
}

// direct returns the form before a value of formIndirect, and the offset after
// it. It rejects formIndirect and forms whose value is in the abbreviation.
func direct(b []byte, p int) (uint8, int) {
	n, p := uleb(b, p)
	form := formByte(n)
	if form == formIndirect || form == formImplicit || form == formNone {
		return formNone, -1
	}
	return form, p
}

// skipForm returns the offset after a value of any form at p.
func (r reader) skipForm(b []byte, p int, form uint8, l layout) int {
	if form == formIndirect {
		form, p = direct(b, p)
	}
	_, p = r.value(b, p, form, l)
	return p
}
