package object

import (
	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// Need is another file that an object refers to.
type Need struct {
	Kind   NeedKind
	Name   string // as the object names it
	Dir    string // the folder of a relative Name, if the object has it
	ID     []byte // build id or id of the unit; nil: unknown
	CRC    uint32 // of the content, for NeedDebug with a name
	Member string // of the archive that Name is, for NeedObject
	Time   int64  // when a NeedObject outside of archives was last written, in seconds since 1970; 0: unknown

	DebugID ident.DebugID // of NeedPDB

	Linked any // data of the reader, for NeedObject
}

// NeedKind is the content of a needed file.
type NeedKind uint8

const (
	NeedDebug  NeedKind = iota // all debug information: the file that it was moved to
	NeedAlt                    // the data that several files share
	NeedSplit                  // the debug information of one unit
	NeedDSYM                   // all debug information of a Mach-O binary
	NeedObject                 // the debug information of the code from one object file
	NeedModule                 // all debug information of a module of WebAssembly: another one with the same code
	NeedMap                    // the names that Apple's store replaced by numbers
	NeedPDB                    // all debug information of a Windows binary
)

var needNames = [...]string{"debug", "alt", "split", "dsym", "object", "module", "symbol map", "pdb"}

func (k NeedKind) String() string { return needNames[k] }

// Needs returns the files that the object would have more answers with.
func (o *Object) Needs() []Need {
	if v, ok := o.view.(Supplied); ok {
		return v.Needs()
	}
	return nil
}

// Supply gives the object a file that it needs, and reports whether it fits. The
// object keeps src. Supply must come before all other use.
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
