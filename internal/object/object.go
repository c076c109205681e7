package object

import (
	"errors"
	"slices"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/sym"
)

// File is an open debug file.
type File struct {
	kind    string
	objects []*Object
}

// NewFile returns a file of a format with these objects.
func NewFile(kind string, objects []*Object) *File { return &File{kind, objects} }

// Kind returns the format of the file.
func (f *File) Kind() string { return f.kind }

// Objects returns the binaries that the file describes, at least one.
func (f *File) Objects() []*Object { return f.objects }

// Object answers for one binary that a file describes. It is safe for concurrent
// use.
type Object struct {
	info    Info
	view    View
	mapping *il2cpp.Map // nil: places are those of the file
	size    int64       // of the file, and of those supplied
	mapped  bool        // reading it may fault
	relax   func()
	leftOut atomic.Uint64
	watch   func(done, all int64) // may be nil
}

// New returns the object of a view.
func New(info Info, v View, in Input) *Object {
	return &Object{info: info, view: v, size: in.Size, mapped: in.Mapped, relax: in.Relax}
}

// View returns the view of the object.
func (o *Object) View() View { return o.view }

// SetName sets the name of the object in its file.
func (o *Object) SetName(name string) { o.info.Name = name }

// Watch has Blocks report the bytes of code that it has passed, and those of all code,
// or zero if the size is unknown.
func (o *Object) Watch(report func(done, all int64)) { o.watch = report }

func (o *Object) watchBlocks(yield func(*sym.Block) error) func(*sym.Block) error {
	first, all := int64(-1), int64(0)
	for _, s := range o.info.Segments {
		all += int64(s.Size)
	}
	return func(b *sym.Block) error {
		if len(b.Rows) > 0 {
			at := int64(b.Rows[0].Addr)
			if first < 0 {
				first = at
			}
			o.watch(at-first, all)
		}
		return yield(b)
	}
}

// AddDamage adds damage of the file that the object is in.
func (o *Object) AddDamage(d Damage) {
	o.info.BadRecords += d.Count
	o.info.Damage = append(slices.Clip(o.info.Damage), d)
}

// Info describes the object. Units and functions are only read when they are
// needed: damage in them, and the counts of some formats, are complete after Blocks
// has run.
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

// Footprint estimates the bytes of memory of the object, without its source.
func (o *Object) Footprint() int64 {
	n := o.view.Describe(new(Info))
	if o.mapping != nil {
		n += o.mapping.Footprint()
	}
	return n
}

// Mangled reports whether names are mangled, as linkers see them. Breakpad files and
// symbfiles have readable names.
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

// Nearest returns the function or symbol with the greatest start that is not above
// addr, however far away it is. At one address a function comes before a
// symbol.
func (o *Object) Nearest(addr uint64) (found sym.Frame, ok bool) {
	defer RecoverFault(new(error))()
	return o.view.Nearest(addr)
}

// AppendText appends the string of a handle to dst.
func (o *Object) AppendText(dst []byte, t sym.Text) []byte {
	if o.mapping != nil && t&15 == TextMapped {
		return AppendPath(dst, []byte(o.mapping.File(uint32(t>>4))))
	}
	if o.mapped {
		return guard(dst, func() []byte { return o.view.AppendText(dst, t) })
	}
	return o.view.AppendText(dst, t)
}

// Relax releases pages of the file. Call it periodically when reading the texts of
// the whole file.
func (o *Object) Relax() {
	o.relax()
	if o.mapping != nil {
		o.mapping.Relax()
	}
}

// Source returns the content of a source file that is embedded in the debug
// information (DW_LNCT_LLVM_source, portable PDBs), else nil.
func (o *Object) Source(file sym.Text) []byte {
	v, ok := o.view.(Sourcer)
	if !ok {
		return nil
	}
	return guard(nil, func() []byte { return v.Source(file) })
}

// Blocks calls yield with all answers of Lookup, in blocks of rising addresses. A
// block is valid until yield returns; an error of yield ends the work. Roots
// without rows are functions and symbols that Nearest finds and Lookup does not;
// the first block may have nothing else.
func (o *Object) Blocks(opt BlockOptions, yield func(*sym.Block) error) (err error) {
	defer RecoverFault(&err)()
	if o.mapping != nil {
		yield = o.mapBlocks(yield)
	}
	if o.watch != nil {
		yield = o.watchBlocks(yield)
	}
	return o.view.Blocks(opt, yield)
}

// CFI calls yield with the records of the unwind information. They are valid until
// yield returns; an error of yield ends the work.
func (o *Object) CFI(yield func(*sym.Unwind) error) (err error) {
	v, ok := o.view.(Unwinder)
	if !ok {
		return nil
	}
	defer RecoverFault(&err)()
	return v.CFI(yield)
}

// CFIAt calls yield with the records of CFI for the code at an address, and reads
// only these. There are at most three pieces of code that contain it: a
// UnwindWindows with a program, one without, and an UnwindBegin with its changes, in
// this order, which is the order of preference. Where several records of a kind
// overlap, an UnwindWindows ends where the next one starts, and the UnwindBegin that
// starts first has the code.
func (o *Object) CFIAt(addr uint64, yield func(*sym.Unwind) error) (err error) {
	v, ok := o.view.(Unwinder)
	if !ok {
		return nil
	}
	defer RecoverFault(&err)()
	contains := false // the records of a piece may be read with those of others
	return v.CFIAt(addr, func(u *sym.Unwind) error {
		if u.Kind != sym.UnwindChange {
			contains = addr-u.Addr < u.Size
		}
		if !contains {
			return nil
		}
		return yield(u)
	})
}

// Rebase makes addresses relative to base, in a file without a base of its own. It
// must come before all other use.
func (o *Object) Rebase(base uint64) {
	if v, ok := o.view.(Rebased); ok {
		o.info.LoadAddress = base
		v.Rebase(base)
	}
}

// Needs returns the files that the object would have more answers with.
func (o *Object) Needs() []Need {
	if v, ok := o.view.(Supplied); ok {
		return v.Needs()
	}
	return nil
}

// Supply supplies a file that the object needs, and reports whether it is the right one.
// The object keeps src. Supply must come before all other use.
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
