package object

import (
	"cmp"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// Options of opening a file. The zero value is fine.
type Options struct {
	Columns bool   // frames have columns too
	Written bool   // names are unchanged: paths are not cleaned, functions keep the number of a copy, and in PDBs the name of their symbol
	Once    bool   // with Written, paths do not repeat the folder of the unit if the line program lists it too
	GNU     bool   // with Written, paths of DWARF have a slash after each folder, even if it ends with one
	Short   bool   // paths of DWARF are unchanged, without the folder of the unit
	Base    uint64 // the load address of the binary, for a file without one: a PDB
	// Space takes large unpacked data, instead of the heap. Without space there a
	// file cannot be opened. It outlives the File; it may be nil.
	Space bin.Space
	// Relax releases pages of the file and of Space. It is called periodically while
	// much is read; it may be nil.
	Relax func()
}

// Info describes an object.
type Info struct {
	Module      ident.Module
	Kind        string    // format: "breakpad", "elf", …
	Name        string    // of the object in a file that names its objects
	Type        string    // the purpose of the file: "dbg", "exe", "lib", "rel", …
	LoadAddress uint64    // the base that was subtracted from the addresses in the file
	Segments    []Segment // the executable ones of an ELF file, if it has their offsets in the program
	CodeOffset  uint64    // of the code in a WebAssembly file, from which LLVM and DWARF count addresses
	Overlapping int       // sections of code that all begin at address 0, in an object file with several
	Features    Features
	// SourceServer is the version control system that a PDB was indexed for:
	// "git", "perforce" or "other".
	SourceServer string
	Producer     string // the program that made the file, if the file names it
	Counts       Counts
	BadRecords   uint64   // the number of records that were left out
	Damage       []Damage // by kind
}

// Segment is a part of a file that is loaded: Size bytes at Offset, to Addr as linked.
type Segment struct {
	Offset, Addr, Size uint64
}

// Counts are numbers of usable records.
type Counts struct {
	Functions, Publics, Files, InlineOrigins, Unwind int
}

// Damage is the records of one kind that were left out.
type Damage struct {
	Kind   string
	Count  uint64
	Lines  []uint32 // where the first ones are, in a text file
	Places []string // the first ones, with place and reason, in others
}

// Features are the usable data of an object, which may be less than its sections
// promise.
type Features uint8

const (
	HasSymbols Features = 1 << iota // names of addresses without extent
	HasDebug                        // functions, with or without lines
	HasUnwind
	HasSources
)

var featureNames = [...]string{"symbols", "debug", "unwind", "sources"}

// Names returns the features in words.
func (f Features) Names() []string {
	var names []string
	for i, n := range featureNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// BlockOptions are for Blocks. The zero value is fine.
type BlockOptions struct {
	Workers int         // goroutines that parse; the blocks do not depend on it
	Scratch bin.Scratch // holds data that does not fit into memory; nil: all fits
	Memory  int64       // bytes to keep if there is a Scratch; zero: 48 MiB
}

func (o *BlockOptions) MemoryLimit() int64 { return cmp.Or(o.Memory, 48<<20) }

// Need is another file that an object refers to.
type Need struct {
	Kind   NeedKind
	Name   string // as the object names it
	Dir    string // the folder of a relative Name, if the object has it
	ID     []byte // build id or id of the unit; nil: unknown
	CRC    uint32 // of the content, for NeedDebug with a name
	Member string // of the archive that Name is, for NeedObject
	Time   int64  // when a NeedObject outside of archives was last written, in seconds since 1970; 0: unknown

	DebugID ident.DebugID // of NeedPDB, and of NeedTypes if that is a PDB

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
	NeedTypes                  // the types of an object of Windows: a PDB, or another object
)

var needNames = [...]string{"debug", "alt", "split", "dsym", "object", "module", "symbol map", "pdb", "types"}

func (k NeedKind) String() string { return needNames[k] }

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

// Origin is the place of a source file.
type Origin struct {
	URL      string // of its content; "" if unknown
	Path     string // in a version control system
	Revision string
}

// DescribeOne opens a file with one object and returns its description.
func DescribeOne[F, T any](src bin.Source, open func(bin.Source) (F, error), describe func(F) T) ([]T, error) {
	f, err := open(src)
	if err != nil {
		return nil, err
	}
	return []T{describe(f)}, nil
}
