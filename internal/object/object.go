package object

import (
	"cmp"
	"slices"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// Options of opening a file. The zero value is fine.
type Options struct {
	Columns bool      // frames tell the column too
	Written bool      // names are as they are written in the file: paths are not cleaned, functions keep the number of a copy
	Short   bool      // paths of DWARF are as they are written, without the folder of the unit
	Base    uint64    // the load address of the binary, for a file that does not say it: a PDB
	Space   bin.Space // takes what is unpacked, if that is much: without room there a file cannot be opened; nil: the heap does. It outlives the File
	Relax   func()    // gives pages of the file and of Space back; called now and then while much is read; may be nil
}

// File is an open debug file.
type File struct {
	kind    string
	objects []*Object
}

// NewFile returns a file of a format with these objects.
func NewFile(kind string, objects []*Object) *File { return &File{kind, objects} }

// Kind is the format of the file.
func (f *File) Kind() string { return f.kind }

// Objects are the binaries that the file describes, at least one.
func (f *File) Objects() []*Object { return f.objects }

// Object is what a file says about one binary.
type Object struct {
	info    Info
	view    View
	mapping *il2cpp.Map // nil: places are as the file has them
	size    int64       // of the file, and of those supplied
	mapped  bool        // reading it may fault
	relax   func()
	leftOut atomic.Uint64
}

// New returns the object of a view.
func New(info Info, v View, in Input) *Object {
	return &Object{info: info, view: v, size: in.Size, mapped: in.Mapped, relax: in.Relax}
}

// View returns what answers for the object.
func (o *Object) View() View { return o.view }

// SetName sets the name of the object in its file.
func (o *Object) SetName(name string) { o.info.Name = name }

// AddDamage adds damage of the file that the object is in.
func (o *Object) AddDamage(d Damage) {
	o.info.BadRecords += d.Count
	o.info.Damage = append(slices.Clip(o.info.Damage), d)
}

// Info is what an object is and has.
type Info struct {
	Module      ident.Module
	Kind        string // format: "breakpad", "elf", …
	Name        string // of the object in a file that names its objects
	Type        string // what the file is for: "dbg", "exe", "lib", "rel", …
	LoadAddress uint64 // what was subtracted from the addresses in the file
	Features    Features
	// SourceServer is the version control system that a PDB was indexed for:
	// "git", "perforce" or "other".
	SourceServer string
	Producer     string // what made the file, if it says so
	Counts       Counts
	BadRecords   uint64   // all that were left out
	Damage       []Damage // the same by kind
}

// Counts are numbers of usable records.
type Counts struct {
	Functions, Publics, Files, InlineOrigins, Unwind int
}

// Damage is what of one kind was left out.
type Damage struct {
	Kind   string
	Count  uint64
	Lines  []uint32 // where the first ones are, in a text file
	Places []string // the first ones, with place and reason, in others
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

// Info tells about the object. What is inside of units and functions is only
// judged when it is needed: what was wrong there, and of some formats how much
// there is, is told once Blocks has run.
func (o *Object) Info() Info {
	info := o.info
	info.Damage = slices.Clip(info.Damage)
	o.view.Describe(&info)
	if n := o.leftOut.Load(); n > 0 {
		info.BadRecords += n
		info.Damage = append(info.Damage, Damage{Kind: "names that are too long together", Count: n})
	}
	return info
}

// Footprint is about how many bytes of memory the object takes, its source
// aside.
func (o *Object) Footprint() int64 {
	n := o.view.Describe(new(Info))
	if o.mapping != nil {
		n += o.mapping.Footprint()
	}
	return n
}

// Mangled says that the names are as linkers see them. Breakpad files and
// symbfiles have those that people read.
func (o *Object) Mangled() bool {
	return o.info.Kind != "breakpad" && o.info.Kind != "symbfile"
}

// Lookup appends the frames of an address to dst, innermost first; none where
// nothing is known.
func (o *Object) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	from := len(dst)
	if o.mapped {
		dst = guard(dst, func() []sym.Frame { return o.view.Lookup(dst, addr) })
	} else {
		dst = o.view.Lookup(dst, addr)
	}
	if o.mapping != nil && !o.mapFrames(dst[from:]) {
		return dst[:from]
	}
	return dst
}

// Nearest is the function or symbol with the greatest start that is not above
// addr, however far away it is. At one address a function comes before a
// symbol.
func (o *Object) Nearest(addr uint64) (found sym.Frame, ok bool) {
	defer RecoverFault(new(error))()
	return o.view.Nearest(addr)
}

// AppendText appends the string behind a handle to dst.
func (o *Object) AppendText(dst []byte, t sym.Text) []byte {
	if o.mapping != nil && t&15 == TextMapped {
		return AppendPath(dst, []byte(o.mapping.File(uint32(t>>4))))
	}
	if o.mapped {
		return guard(dst, func() []byte { return o.view.AppendText(dst, t) })
	}
	return o.view.AppendText(dst, t)
}

// Relax gives pages of the file back. Who calls AppendText for all of it does
// that now and then.
func (o *Object) Relax() {
	o.relax()
	if o.mapping != nil {
		o.mapping.Relax()
	}
}

// Source is the content of the file behind a handle, where the debug information
// has it (DW_LNCT_LLVM_source, embedded sources of portable PDBs), else nil.
func (o *Object) Source(file sym.Text) []byte {
	v, ok := o.view.(Sourcer)
	if !ok {
		return nil
	}
	return guard(nil, func() []byte { return v.Source(file) })
}

// BlockOptions are for Blocks. The zero value is fine.
type BlockOptions struct {
	Workers int         // goroutines that parse; the blocks do not depend on it
	Scratch bin.Scratch // takes what does not fit into memory; nil: all fits
	Memory  int64       // bytes to keep if there is a Scratch; zero: 48 MiB
}

func (o *BlockOptions) MemoryLimit() int64 { return cmp.Or(o.Memory, 48<<20) }

// Blocks hands everything that Lookup could say to yield, in blocks of rising
// addresses. A block is valid until yield returns, whose error ends the work.
// Roots that no row leads to are functions and symbols that Nearest finds and
// Lookup does not; the first block may hold nothing else.
func (o *Object) Blocks(opt BlockOptions, yield func(*sym.Block) error) (err error) {
	defer RecoverFault(&err)()
	if o.mapping != nil {
		yield = o.mapBlocks(yield)
	}
	return o.view.Blocks(opt, yield)
}

// CFI hands the unwind information of the object to yield as Breakpad's STACK
// records, some whole lines at a time, which are valid until yield returns. Its
// error ends the work.
func (o *Object) CFI(yield func(records []byte) error) (err error) {
	v, ok := o.view.(Unwinder)
	if !ok {
		return nil
	}
	defer RecoverFault(&err)()
	return v.CFI(yield)
}

// Discriminator tells pieces of code of one line apart: which one an address
// is in, 0 if there is one only or that is not known. Columns must be wanted.
func (o *Object) Discriminator(addr uint64) uint32 {
	v, ok := o.view.(Branched)
	if !ok {
		return 0
	}
	return guard(0, func() uint32 { return v.Discriminator(addr) })
}

// Rebase makes addresses relative to base in a file that does not know what its
// addresses count from. It must come before the first question.
func (o *Object) Rebase(base uint64) {
	if v, ok := o.view.(Rebased); ok {
		o.info.LoadAddress = base
		v.Rebase(base)
	}
}
