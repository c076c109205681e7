package macho

// The entries of the debug map.
const (
	stabFunction = 0x24 // name and address; then one without name: the size
	stabSource   = 0x64 // without name: the end of an object file
	stabObject   = 0x66
)

// ObjectFile is an object file that was linked, where the debug information of
// its functions still is when there is no dSYM. Its Path may be that of an
// archive with the member in parentheses.
type ObjectFile struct {
	Path      []byte
	Time      uint64 // when it was written last, in seconds since 1970
	Functions []Function
}

// Function is a function of an ObjectFile. In that it has the same name.
type Function struct {
	Name       []byte // without the underscore of C
	Addr, Size uint64 // in this image
}

// DebugMap lists the object files that the linker names. It is empty in a dSYM
// and in what was stripped.
func (f *File) DebugMap() []ObjectFile {
	var files []ObjectFile
	var open *ObjectFile
	for i := range f.entries() {
		n := f.entry(i)
		switch n.kind {
		case stabSource:
			open = nil
		case stabObject:
			files = append(files, ObjectFile{Path: f.SymbolName(n.name), Time: n.value})
			open = &files[len(files)-1]
		case stabFunction:
			if open == nil {
				break
			}
			if name := plain(f.SymbolName(n.name)); len(name) > 0 {
				open.Functions = append(open.Functions, Function{Name: name, Addr: f.codeAddr(n.value)})
			} else if last := len(open.Functions) - 1; last >= 0 && open.Functions[last].Size == 0 {
				open.Functions[last].Size = n.value
			}
		}
	}
	return files
}
