package object

import (
	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/unpack"
)

// Input is the part of Options and of the opened file that a reader of a format
// needs. Package debugfile fills it.
type Input struct {
	Options
	Role
	Size   int64          // of the file as it was opened, maybe packed
	Mapped bool           // reading the source may fault
	Budget *unpack.Budget // memory for unpacked data
	// Open opens a file that the object needs.
	Open func(src bin.Source, role Role) (*File, error)
}

// Role is the relation of a file to the object that needs it. It is zero for a
// file that is opened for itself.
type Role struct {
	Index int  // number of the file among all files of the object
	Split bool // only units of a .dwo file count, even if there are skeletons
}

// View answers for one binary in a file. Readers of formats implement it, and the
// interfaces below that their format has data for. Its methods may
// panic if the source is mapped memory and its disk fails: Object recovers.
type View interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	Nearest(addr uint64) (sym.Frame, bool)
	AppendText(dst []byte, t sym.Text) []byte
	Blocks(opt BlockOptions, yield func(*sym.Block) error) error
	// Describe sets the counts of info, adds the damage that is known, and returns
	// about how many bytes of memory the view takes, its source aside.
	Describe(info *Info) (footprint int64)
}

// Coder is a View of a file with machine code.
type Coder interface {
	Code(addr, size uint64) []byte
	Stretches() (list []Stretch, whole bool, err error)
}

// Unwinder is a View of a file with unwind information.
type Unwinder interface {
	CFI(yield func(*sym.Unwind) error) error
	// CFIAt yields the records of some pieces of code, with those that contain addr.
	CFIAt(addr uint64, yield func(*sym.Unwind) error) error
}

// Sourcer is a View of a file that has source files, or links to them.
type Sourcer interface {
	Source(file sym.Text) []byte
	SourceByPath(path string) []byte
	Origin(path string) Origin
}

// Supplied is a View that answers more with the help of other files.
type Supplied interface {
	Needs() []Need
	// Supply reports whether src is the needed file. The view keeps it then.
	Supply(n Need, src bin.Source, info *Info) (used bool, err error)
}

// Detailed is a View with details that frames do not have.
type Detailed interface {
	Line(addr uint64) Line
	Starts(addr uint64) []Start
	Locals(addr uint64) []Local
	Variable(addr uint64) Decl
}

// Symbolic is a View of a file with a symbol table.
type Symbolic interface {
	Named(name string) []Place
	LookupIn(dst []sym.Frame, part uint16, addr uint64) []sym.Frame
	Label(addr uint64) string
}

// Sectioned is a View of a file with sections.
type Sectioned interface {
	// Select returns the place of a section. The sections of a relocatable file begin at
	// 0; after a call, Lookup and Line answer only from this one.
	Select(section string) (p Place, ok bool)
}

// Rebased is a View whose file does not contain the base of its addresses.
type Rebased interface {
	Rebase(base uint64)
}

// Native is a View of lines that a compiler wrote for machine code. Its texts
// leave the kind TextMapped to Object.
type Native interface {
	HasNativeLines()
}

// TextMapped is the kind, in the four lowest bits, of texts of a mapping.
const TextMapped = 14
