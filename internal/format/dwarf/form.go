package dwarf

import (
	"bytes"
	"encoding/binary"
)

// Forms: how the value of an attribute is stored. The numbers are those of the
// standard; what others added has a number of ours, so that a form is a byte.
const (
	formNone, formAddr, formBlock2, formBlock4, formData2, formData4  = 0x00, 0x01, 0x03, 0x04, 0x05, 0x06
	formData8, formString, formBlock, formBlock1, formData1, formFlag = 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c
	formSdata, formStrp, formUdata, formRefAddr, formRef1, formRef2   = 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12
	formRef4, formRef8, formRefUdata, formIndirect, formSecOffset     = 0x13, 0x14, 0x15, 0x16, 0x17
	formExprloc, formFlagPresent, formStrx, formAddrx, formRefSup4    = 0x18, 0x19, 0x1a, 0x1b, 0x1c
	formStrpSup, formData16, formLineStrp, formRefSig8, formImplicit  = 0x1d, 0x1e, 0x1f, 0x20, 0x21
	formRnglistx, formRefSup8, formStrx1, formStrx2, formStrx3        = 0x23, 0x24, 0x25, 0x26, 0x27
	formStrx4, formAddrx1, formAddrx2, formAddrx3, formAddrx4         = 0x28, 0x29, 0x2a, 0x2b, 0x2c
	formRefAlt, formAddrxOffset                                       = 0x2d, 0x2e // DW_FORM_GNU_ref_alt, DW_FORM_LLVM_addrx_offset

	sizeVaries  = -1 // of a form: it is in the data
	sizeUnknown = -2 // of a form: we do not know it
)

// formByte is the form of a number in an abbreviation, or formNone.
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

// layout is what the size of a form depends on.
type layout struct {
	addr    uint8 // bytes of an address: 2, 4 or 8
	off     uint8 // bytes of an offset: 4, or 8 in 64-bit DWARF
	refAddr uint8 // bytes of DW_FORM_ref_addr: an address in version 2
}

// formSizes has a letter for each form: a digit is its size, a, o and r that of
// an address, an offset or a DW_FORM_ref_addr, x sixteen, v is in the data, and
// of ? we know nothing.
const formSizes = "?a?vv248vvv11vovr1248vvov0vv4oxo80vv812341234ov"

// size is the number of bytes of a form, or sizeVaries or sizeUnknown.
func (l layout) size(form uint8) int {
	switch c := formSizes[form]; c {
	case 'a':
		return int(l.addr)
	case 'o':
		return int(l.off)
	case 'r':
		return int(l.refAddr)
	case 'x':
		return 16
	case 'v':
		return sizeVaries
	case '?':
		return sizeUnknown
	default:
		return int(c - '0')
	}
}

// reader reads numbers of an order out of slices. A place of -1 says that
// something does not fit; it is passed on.
type reader struct{ big bool }

// uint is the number of n bytes at p. The caller has looked at the bounds.
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

// number is the number of n bytes at p and the place behind it.
func (r reader) number(b []byte, p, n int) (uint64, int) {
	if p < 0 || len(b)-p < n {
		return 0, -1
	}
	return r.uint(b, p, n), p + n
}

// uleb is the unsigned LEB128 number at p and the place behind it. Bits above
// 64 are lost.
func uleb(b []byte, p int) (uint64, int) {
	if uint(p) < uint(len(b)) && b[p] < 0x80 {
		return uint64(b[p]), p + 1
	}
	return longUleb(b, p)
}

// longUleb is short, so that uleb is inlined.
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

// sleb is the signed LEB128 number at p as 64 bits.
func sleb(b []byte, p int) (uint64, int) {
	v, end := uleb(b, p)
	if end > p {
		if n := 7 * uint(end-p); n < 64 && b[end-1]&0x40 != 0 {
			v |= ^uint64(0) << n
		}
	}
	return v, end
}

// ahead is the place n bytes behind p, if b has it.
func ahead(b []byte, p int, n uint64) int {
	if p < 0 || n > uint64(len(b)-p) {
		return -1
	}
	return p + int(n)
}

// value is the value at p as it stands, and the place behind it: a number, an
// index, an offset, a reference; for a string or a block in the data its
// place. The form is not formIndirect.
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

// direct is the form that stands in front of a value of formIndirect, and the
// place behind it. It is neither indirect again nor one whose value stands in
// the abbreviation.
func direct(b []byte, p int) (uint8, int) {
	n, p := uleb(b, p)
	form := formByte(n)
	if form == formIndirect || form == formImplicit || form == formNone {
		return formNone, -1
	}
	return form, p
}

// skipForm is the place behind a value of any form at p.
func (r reader) skipForm(b []byte, p int, form uint8, l layout) int {
	if form == formIndirect {
		form, p = direct(b, p)
	}
	_, p = r.value(b, p, form, l)
	return p
}
