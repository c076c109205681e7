package object

import (
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// File is an open debug file.
type File struct {
	kind    string
	objects []*Object
}

// Kind is the format of the file: "breakpad".
func (f *File) Kind() string { return f.kind }

// Objects are the binaries that the file describes, at least one.
func (f *File) Objects() []*Object { return f.objects }

// Object is what a file says about one binary.
type Object struct {
	info Info
	sym  *symbolFile
}

// Info is what an object is and has.
type Info struct {
	Module      ident.Module
	Kind        string // format
	LoadAddress uint64 // what was subtracted from the addresses in the file
	Features    Features
	Producer    string // what made the file, if it says so
	Counts      Counts
	BadRecords  uint64   // all that were left out
	Damage      []Damage // the same by kind
}

// Counts are numbers of usable records.
type Counts struct {
	Functions, Publics, Files, InlineOrigins, Unwind int
}

// Damage is how many records of one kind were left out.
type Damage struct {
	Kind  string
	Count uint64
	Lines []uint32 // where the first ones are
}

// Features are what an object has that is of use, which may be less than its
// sections promise.
type Features uint8

const (
	HasSymbols Features = 1 << iota // names of addresses without extent
	HasDebug                        // functions, with or without lines
	HasUnwind
	HasSources
)

var featureNames = [...]string{"symbols", "debug", "unwind", "sources"}

// Names are the features in words.
func (f Features) Names() []string {
	var names []string
	for i, n := range featureNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Info tells about the object. Records inside of functions are only judged
// when they are needed: what was wrong with them is told once Blocks has run.
func (o *Object) Info() Info {
	info := o.info
	info.BadRecords, info.Damage = o.sym.damage()
	return info
}

// Footprint is about how many bytes of memory the object takes, its source
// aside.
func (o *Object) Footprint() int64 { return o.sym.footprint() }

// Lookup appends the frames of an address to dst, innermost first; none where
// nothing is known.
func (o *Object) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	return o.sym.lookup(dst, addr)
}

// Nearest is the function or symbol with the greatest start that is not above
// addr, however far away it is. At one address a function comes before a
// symbol.
func (o *Object) Nearest(addr uint64) (sym.Frame, bool) { return o.sym.nearest(addr) }

// AppendText appends the string behind a handle to dst.
func (o *Object) AppendText(dst []byte, t sym.Text) []byte { return o.sym.appendText(dst, t) }

// Blocks hands everything that Lookup could say to yield, in blocks of rising
// addresses. The file is parsed by up to workers goroutines; what is yielded,
// and its order, does not depend on how many. A block is valid until yield
// returns, whose error ends the work. Roots that no row leads to are functions
// and symbols that Nearest finds and Lookup does not; the first block may hold
// nothing else.
func (o *Object) Blocks(workers int, yield func(*sym.Block) error) error {
	return o.sym.blocks(workers, yield)
}
