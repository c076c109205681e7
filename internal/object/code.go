package object

import (
	"errors"

	"symbolon/internal/fault"
)

// AppendCode appends what the file has of size bytes of code at an address. It
// is less where the code ends, and nothing where there is none.
func (o *Object) AppendCode(dst []byte, addr, size uint64) (out []byte, err error) {
	v, ok := o.view.(Coder)
	if !ok {
		return dst, nil
	}
	defer RecoverFault(&err)()
	return append(dst, v.Code(addr, size)...), nil
}

// ISA is what code for 32-bit ARM is.
type ISA uint8

const (
	ISAData ISA = iota // no code: literals, tables of jumps
	ISAA32
	ISAT32 // Thumb
)

// Stretch is code for 32-bit ARM from an address on.
type Stretch struct {
	Addr uint64
	ISA  ISA
}

// Stretches tells which instruction set code for 32-bit ARM is of, in ascending
// order. If it is whole it tells that of all code, each stretch lasting to the
// next; else only that of the first instructions of functions. It is an error if
// that is no help: of code in another byte order, and of kinds of files where it
// cannot be told.
func (o *Object) Stretches() (list []Stretch, whole bool, err error) {
	v, ok := o.view.(Coder)
	if !ok {
		return nil, false, nil
	}
	defer RecoverFault(&err)()
	if list, whole, err = v.Stretches(); errors.Is(err, errors.ErrUnsupported) {
		err = fault.New(fault.Unsupported, o.info.Kind, "where code for %s is Thumb is not known of this kind of file", o.info.Module.Arch)
	}
	return list, whole, err
}
