package macho

// Entries of the debug map.
const (
	stabFunction = 0x24 // name and address; then an entry without name: the size
	stabSource   = 0x64 // without name: the end of an object file
	stabObject   = 0x66
)

// ObjectFile is a linked object file, which still has the debug information of its
// functions without a dSYM. Its Path may name an archive, with the member in parentheses.
type ObjectFile struct {
	Path      []byte
	Time      uint64 // of the last change, in seconds since 1970
	Functions []Function
}

// Function is a function of an ObjectFile, which has it under the same name.
type Function struct {
	Name       []byte // without the underscore of C
	Addr, Size uint64 // in this image
}

// DebugMap lists the linked object files. It is empty in a dSYM and in a
// stripped file.
func (f *File) DebugMap() []ObjectFile {
	var files []ObjectFile
	var current *ObjectFile
	for i := range f.entries() {
		n := f.entry(i)
		switch n.kind {
		case stabSource:
			current = nil
		case stabObject:
			files = append(files, ObjectFile{Path: f.SymbolName(n.name), Time: n.value})
			current = &files[len(files)-1]
		case stabFunction:
			if current == nil {
				break
			}
			if name := trimUnderscore(f.SymbolName(n.name)); len(name) > 0 {
				current.Functions = append(current.Functions, Function{Name: name, Addr: f.codeAddr(n.value)})
			} else if last := len(current.Functions) - 1; last >= 0 && current.Functions[last].Size == 0 {
				current.Functions[last].Size = n.value
			}
		}
	}
	return files
}
