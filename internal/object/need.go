package object

import (
	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// Need is another file that an object refers to.
type Need struct {
	Kind   NeedKind
	Name   string // as the object names it
	Dir    string // what a relative Name is relative to, if the object says so
	ID     []byte // build id or id of the unit; nil: none is known
	CRC    uint32 // of the content, for NeedDebug with a name
	Member string // of the archive that Name is, for NeedObject
	Time   int64  // when a NeedObject that is no member was written last, in seconds since 1970; 0: it does not say

	DebugID ident.DebugID // of NeedPDB

	Linked any // of NeedObject: of the reader
}

// NeedKind says what a needed file has.
type NeedKind uint8

const (
	NeedDebug  NeedKind = iota // all debug information: the file that it was moved to
	NeedAlt                    // what several files share
	NeedSplit                  // the debug information of one unit
	NeedDSYM                   // all debug information of a Mach-O binary
	NeedObject                 // the debug information of what was linked from one object file
	NeedModule                 // all debug information of a module of WebAssembly: another one with the same code
	NeedMap                    // the names that numbers stand for, since the binary went through Apple's store
	NeedPDB                    // all debug information of a Windows binary
)

var needNames = [...]string{"debug", "alt", "split", "dsym", "object", "module", "symbol map", "pdb"}

func (k NeedKind) String() string { return needNames[k] }

// Needs are the files without which the object says less than it could.
func (o *Object) Needs() []Need {
	if v, ok := o.view.(Supplied); ok {
		return v.Needs()
	}
	return nil // it is whole
}

// Supply gives the object a file that it needs, and says whether it fits. The
// object keeps src. It must come before the first question.
func (o *Object) Supply(n Need, src bin.Source) (used bool, err error) {
	v, ok := o.view.(Supplied)
	if !ok {
		return false, nil
	}
	if used, err = v.Supply(n, src, &o.info); used {
		o.size += src.Size()
		o.mapped = true // src may be
	}
	return used, err
}
