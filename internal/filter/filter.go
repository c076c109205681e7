// Package filter has the contract of the formats to which names are added: how they look
// up addresses, and how they find the file of a module.
//
// A format is a package below this one. Formats that are read as a stream have
//
//	func Filter(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error
//
// and those that are read as a whole
//
//	func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error
//
// All of them copy unknown parts byte for byte, keep names that the file has, and keep
// addresses without an answer. So a second run changes nothing. Records that cannot be
// parsed are copied: an error is an error of the input, the output, the context or Names.
package filter

import (
	"context"

	"symbolon/internal/ident"
)

// Space is how a format counts the addresses of a module.
type Space uint8

const (
	Relative Space = iota // from the start of the image, as in requests of Mozilla's interface
	Linked                // as linked: the virtual addresses of an ELF file
	Offset                // offsets in an ELF file
	Named                 // by symbols: the index in Query.Symbols
	Fixed                 // as linked, in a program or kernel that is not relocated
	Mapped                // from the start of an executable mapping: the index in Query.Symbols, without a name
)

// Address is an address to look up.
type Address struct {
	Module   int32 // index of the module in the Query
	Space    Space
	IsReturn bool // it follows a call: the address before it is looked up
	Addr     uint64
}

// Query is a number of addresses that are looked up together.
type Query struct {
	Modules   []ident.Module
	Addresses []Address
	Times     []int32 // how often the input has each address, for Counts; nil: once
	Symbols   []Symbol
	Called    bool // names have no types of results, see symbolicate.Request
}

// AddModule adds a module and returns its index.
func (q *Query) AddModule(m ident.Module) int32 {
	q.Modules = append(q.Modules, m)
	return int32(len(q.Modules)) - 1
}

// Symbol is an address that is counted from a symbol of code.
type Symbol struct {
	Name   string // in the symbol table
	Offset uint64
	Size   uint64 // from the symbol to the next one; zero: unknown
}

// Frame is one level of an answer. Its texts are valid until the next call of
// Frames.
type Frame struct {
	Function     []byte // readable
	Raw          []byte // as in the debug file
	File         []byte // empty: unknown
	Line, Column uint32 // zero: unknown
	Entry        uint64 // start of the called function, relative to the image; the same in all frames of an address
	Size         uint64 // bytes of the called function; zero: unknown
	Inlined      bool
}

// Names looks addresses up.
type Names interface {
	// Look opens the modules of q. It returns the error of a context that has ended or of
	// a server that does not answer; missing modules are part of the answer. The query
	// must not change until the answer is released.
	Look(ctx context.Context, q *Query) (Answer, error)
}

// Answer has the frames of a Query. It belongs to one goroutine.
type Answer interface {
	// Missing returns why a module has no names, nil if it has some.
	Missing(module int32) error
	// Frames returns the frames of an address, innermost first, and none if nothing
	// is known. It is fastest in ascending order of i.
	Frames(i int) []Frame
	Release()
}
