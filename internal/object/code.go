package object

import (
	"errors"

	"symbolon/internal/fault"
)

// AppendCode appends up to size bytes of code at an address: less where the code
// ends, and nothing in files without code.
func (o *Object) AppendCode(dst []byte, addr, size uint64) (out []byte, err error) {
	v, ok := o.view.(Coder)
	if !ok {
		return dst, nil
	}
	defer RecoverFault(&err)()
	return append(dst, v.Code(addr, size)...), nil
}

// ISA is an instruction set of 32-bit ARM.
type ISA uint8

const (
	ISAData ISA = iota // not code: literals, jump tables
	ISAA32
	ISAT32 // Thumb
)

// Stretch is code for 32-bit ARM from an address on.
type Stretch struct {
	Addr uint64
	ISA  ISA
}

// Stretches returns the instruction sets of code for 32-bit ARM, in ascending order.
// If it is whole the list covers all code, each stretch lasting to the next; else
// only the first instructions of functions. It is an error for code in another byte
// order, and for formats that do not contain them.
func (o *Object) Stretches() (list []Stretch, whole bool, err error) {
	v, ok := o.view.(Coder)
	if !ok {
		return nil, false, nil
	}
	defer RecoverFault(&err)()
	if list, whole, err = v.Stretches(); errors.Is(err, errors.ErrUnsupported) {
		err = fault.New(fault.Unsupported, o.info.Kind, "this format does not tell which code for %s is Thumb", o.info.Module.Arch)
	}
	return list, whole, err
}
