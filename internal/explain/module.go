package explain

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"symbolon/internal/ident"
)

// ParseModules is the module that a command line names, by one of its files or
// by both.
func ParseModules(args []string, kind string) (m ident.Module, err error) {
	if len(args) != 1 && len(args) != 2 {
		return m, errors.New("name one module, as in xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2")
	}
	if m, err = ParseModule(args[0]); err != nil {
		return m, err
	}
	if len(args) == 2 {
		name, id, cut := cutLast(args[1])
		if m.CodeID = ident.ParseCodeID(id); !cut || m.CodeID.IsZero() || m.DebugID.IsZero() {
			return m, fmt.Errorf("of two the first is DEBUGNAME/DEBUGID, the second CODENAME/CODEID: %q, %q", args[0], args[1])
		}
		m.CodeFile = name
		if kind == "" && len(m.CodeID) >= 32 && !ident.BuildID(m.CodeID).Fits(m.DebugID) {
			return m, fmt.Errorf("code id %s does not belong to debug id %s", m.CodeID, m.DebugID.Breakpad())
		}
	}
	if kind != "" {
		if m.Type = ident.ParseType(kind); m.Type == ident.TypeUnknown {
			return m, fmt.Errorf("there is no type %q", kind)
		}
	}
	if m.Type == ident.TypeELF && m.DebugFile == "" {
		m.DebugFile = m.CodeFile
	}
	return m, nil
}

// cutLast is what stands before and behind the last slash.
func cutLast(text string) (name, id string, cut bool) {
	i := strings.LastIndexByte(text, '/')
	if i <= 0 || i == len(text)-1 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

// buildIDDigits is the length of most build ids of ELF files. A debug id is as
// long only if its age has eight digits, as those of portable PDBs have.
const buildIDDigits = 40

// ParseModule parses NAME/ID, or a file id. An ID is a debug id if it can be one,
// else a code id: of an ELF file if it is as long as a build id. Of 40 digits
// only the id of a .pdb file is a debug id.
func ParseModule(text string) (ident.Module, error) {
	if file, err := ident.ParseFileID(text); err == nil {
		return ident.Module{FileID: file}, nil
	}
	name, id, cut := cutLast(text)
	if !cut {
		return ident.Module{}, fmt.Errorf("%q is not NAME/ID", text)
	}
	_, behind, _ := strings.Cut(name, "/")
	first, _, two := strings.Cut(behind, " ")
	if _, err := ident.ParseDebugID(first); two && err == nil {
		return ident.Module{}, fmt.Errorf("%q names two files: quote each NAME/ID by itself", text)
	}
	digits := len(strings.ReplaceAll(id, "-", ""))
	if d, err := ident.ParseDebugID(id); err == nil && digits >= 32 && (digits < buildIDDigits || isPDB(name)) {
		return ident.Module{DebugFile: name, DebugID: d, DebugIDText: id}, nil
	}
	if strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return ident.Module{}, fmt.Errorf("%q is neither a debug id (32 hexadecimal digits and an age) nor a code id", id)
	}
	m := ident.Module{CodeFile: name, CodeID: ident.ParseCodeID(id)}
	if len(m.CodeID) == buildIDDigits {
		m.Type, m.DebugFile = ident.TypeELF, name
	}
	return m, nil
}

func isPDB(name string) bool { return strings.EqualFold(path.Ext(name), ".pdb") }
