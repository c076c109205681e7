package source

import (
	"strings"

	"symbolon/internal/ident"
)

// A FileRequest is a file that a client of a symbol server requests.
type FileRequest struct {
	Module ident.Module
	Kinds  []string
	Part   Part
}

// A Part is the part of a binary that a file must have.
type Part uint8

const (
	AnyPart   Part = iota
	DebugPart      // debug information: an unstripped binary has it too
	CodePart       // code, which separate debug files lack
)

// ParsePath returns the files that a path on a symbol server may name, in the order in
// which to search them. It returns none for an invalid path.
//
//	NAME/KEY/NAME     symstore and SSQP, in any case of letters
//	NAME/ID/NAME.sym  of Breakpad
//	NA/NAME/KEY/NAME  these two in two tiers
//	ID/ID/WORD        unified
func ParsePath(path string) []FileRequest {
	parts := strings.Split(path, "/")
	if len(parts) == 4 && strings.EqualFold(TwoTier(strings.Join(parts[1:], "/")), path) {
		parts = parts[1:]
	}
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return nil
	}
	name, key, file := parts[0], parts[1], parts[2]
	switch {
	case ident.CheckFileName(name) != nil:
		return nil
	case file == ident.SymName(name):
		id, err := ident.ParseBreakpadID(key)
		if err != nil || id.IsZero() {
			return nil
		}
		return []FileRequest{{Module: ident.Module{DebugFile: name, DebugID: id, DebugIDText: key}, Kinds: []string{Breakpad}}}
	case strings.EqualFold(name, file):
		return byKey(name, strings.ToLower(key))
	case len(name) == 2:
		return ByID(name+key, file)
	}
	return nil
}

// byKey parses a key of a symbol server. Its form depends on the kind of file.
func byKey(name, key string) []FileRequest {
	lower := strings.ToLower(name)
	for _, k := range [...]struct {
		prefix, suffix string // of the key, and of the name
		kind           ident.Type
		word           string
	}{
		{"elf-buildid-sym-", ".debug", ident.TypeELF, "debuginfo"},
		{"elf-buildid-", "", ident.TypeELF, "executable"},
		{"mach-uuid-sym-", ".dwarf", ident.TypeMachO, "debuginfo"},
		{"mach-uuid-", "", ident.TypeMachO, "executable"},
	} {
		id, ok := strings.CutPrefix(key, k.prefix)
		if !ok || !strings.HasSuffix(lower, k.suffix) {
			continue
		}
		var list []FileRequest
		for _, code := range codeIDs(k.kind, id) {
			list = append(list, requests(ident.Module{Type: k.kind, CodeFile: name, CodeID: code}, k.word)...)
		}
		return list
	}
	if strings.HasSuffix(lower, ".pdb") {
		return pdbs(name, key)
	}
	if _, _, ok := ident.CodeID(key).PE(); !ok {
		return nil
	}
	return []FileRequest{{Module: ident.Module{Type: ident.TypePE, CodeFile: name, CodeID: ident.CodeID(key)}, Kinds: []string{PE}}}
}

// pdbs returns the requests for the PDB of a key. Its age is in hexadecimal digits;
// LLDB prints it in decimal ones.
func pdbs(name, key string) []FileRequest {
	id, err := ident.ParseBreakpadID(key)
	if err != nil || id.IsZero() {
		return nil
	}
	list := []FileRequest{{Module: ident.Module{Type: ident.TypePE, DebugFile: name, DebugID: id}, Kinds: []string{PDB, PortablePDB}}}
	var age uint64
	digits := key[min(len(key), 32):]
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return list
		}
		age = age*10 + uint64(c-'0')
	}
	if len(digits) > 1 && digits[0] != '0' {
		again := list[0]
		again.Module.DebugID = ident.NewDebugID(id.UUID(), uint32(age))
		list = append(list, again)
	}
	return list
}

// ByID returns the files that a word of the layouts unified and debuginfod may name
// for an id of any kind of binary, in hexadecimal digits.
func ByID(id, word string) (list []FileRequest) {
	id = strings.ToLower(id)
	for _, code := range codeIDs(ident.TypeELF, id) {
		list = append(list, requests(ident.Module{Type: ident.TypeELF, CodeID: code}, word)...)
	}
	for _, kind := range [...]ident.Type{ident.TypeMachO, ident.TypeWasm} {
		for _, code := range codeIDs(kind, id) {
			list = append(list, requests(ident.Module{Type: kind, CodeID: code}, word)...)
		}
	}
	if d, ok := guidAndAge(id); ok {
		list = append(list, requests(ident.Module{Type: ident.TypePE, DebugID: d}, word)...)
	}
	return list
}

// codeIDs returns the code ids that a text may mean for binaries of a type. A build
// id of 20 bytes that ends with zeros may be a shorter one that was padded.
func codeIDs(kind ident.Type, text string) []ident.CodeID {
	id, err := ident.ParseBuildID(text)
	if err != nil || kind != ident.TypeELF && len(id) != 32 {
		return nil
	}
	list := []ident.CodeID{id.CodeID()}
	if kind != ident.TypeELF || len(id) != 40 {
		return list
	}
	for _, digits := range [...]int{32, 16} {
		if strings.Trim(string(id[digits:]), "0") == "" {
			list = append(list, id[:digits].CodeID())
		}
	}
	return list
}

// maxAge is the largest age in an id of fixed size: the other ids of this size are
// build ids, which are random.
const maxAge = 1 << 16

// guidAndAge parses the id of a Windows binary: a GUID, and an age without padding,
// or padded to eight digits as LLDB does.
func guidAndAge(id string) (ident.DebugID, bool) {
	d, err := ident.ParseBreakpadID(id)
	return d, err == nil && !d.IsZero() && len(id) > 32 && (len(id) < 40 || d.Age() < maxAge)
}

// debugKinds are the kinds of separate debug files by type; natives are the kinds of
// code.
var debugKinds = map[ident.Type][]string{
	ident.TypeELF: {ELFDebug}, ident.TypeMachO: {MachDebug}, ident.TypePE: {PDB, PortablePDB}, ident.TypeWasm: {WasmDebug},
}

// requests returns the requests for a word of the layouts unified and debuginfod.
func requests(m ident.Module, word string) []FileRequest {
	code := []string{natives[m.Type]}
	switch word {
	case "debuginfo":
		return []FileRequest{{m, debugKinds[m.Type], DebugPart}, {m, code, DebugPart}}
	case "executable":
		return []FileRequest{{m, code, CodePart}}
	case "breakpad":
		return []FileRequest{{m, []string{Breakpad}, AnyPart}}
	case "sourcebundle":
		return []FileRequest{{m, []string{SourceBundle}, AnyPart}}
	}
	return nil
}
