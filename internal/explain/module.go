package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/ident"
)

// ParseModules parses the arguments that name one module, by one of its files
// or by both, and its type, which may be empty.
func ParseModules(args []string, kind ident.Type) (m ident.Module, err error) {
	if len(args) != 1 && len(args) != 2 {
		return m, errors.New("expected one module, such as xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2")
	}
	if m, err = ParseModule(args[0]); err != nil {
		return m, err
	}
	if len(args) == 2 {
		name, id, isCut := cutLast(args[1])
		if m.CodeID = ident.ParseCodeID(id); !isCut || m.CodeID.IsZero() || m.DebugID.IsZero() {
			return m, fmt.Errorf("invalid module %q %q: must be DEBUGNAME/DEBUGID CODENAME/CODEID", args[0], args[1])
		}
		m.CodeFile = name
		if kind == ident.TypeUnknown && len(m.CodeID) >= 32 && !ident.BuildID(m.CodeID).Fits(m.DebugID) {
			return m, fmt.Errorf("code id %s does not belong to debug id %s", m.CodeID, m.DebugID.Breakpad())
		}
	}
	if kind != ident.TypeUnknown {
		m.Type = kind
	}
	if m.Type == ident.TypeELF && m.DebugFile == "" {
		m.DebugFile = m.CodeFile
	}
	return m, nil
}

// cutLast cuts text around its last slash. It reports false if either part is
// empty.
func cutLast(text string) (name, id string, isCut bool) {
	i := strings.LastIndexByte(text, '/')
	if i <= 0 || i == len(text)-1 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

// buildIDDigits is the length of most build ids of ELF files. Of the debug ids
// only those of portable PDBs are as long: their age has eight digits.
const buildIDDigits = 40

// ParseModule parses NAME/ID, or a file id. It takes an ID as a debug id if
// possible, and else as a code id: of an ELF file if it is as long as a build id.
// An ID of 40 digits is a debug id only if NAME ends in .pdb.
func ParseModule(text string) (ident.Module, error) {
	if file, err := ident.ParseFileID(text); err == nil {
		return ident.Module{FileID: file}, nil
	}
	name, id, isCut := cutLast(text)
	if !isCut {
		return ident.Module{}, fmt.Errorf("invalid module %q: must be NAME/ID", text)
	}
	_, rest, _ := strings.Cut(name, "/")
	first, _, hasSecond := strings.Cut(rest, " ")
	if _, err := ident.ParseDebugID(first); hasSecond && err == nil {
		return ident.Module{}, fmt.Errorf("invalid module %q: quote each NAME/ID by itself", text)
	}
	digits := len(strings.ReplaceAll(id, "-", ""))
	if d, err := ident.ParseDebugID(id); err == nil && digits >= 32 && (digits < buildIDDigits || isPDB(name)) {
		return ident.Module{DebugFile: name, DebugID: d, DebugIDText: id}, nil
	}
	if strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return ident.Module{}, fmt.Errorf("invalid id %q: "+
			"must be a debug id (32 hexadecimal digits and an age) or a code id (hexadecimal digits)", id)
	}
	m := ident.Module{CodeFile: name, CodeID: ident.ParseCodeID(id)}
	if len(m.CodeID) == buildIDDigits {
		m.Type, m.DebugFile = ident.TypeELF, name
	}
	return m, nil
}

func isPDB(name string) bool { return strings.EqualFold(path.Ext(name), ".pdb") }

// ReadModules reads a list of modules, one on each line as ParseModule reads it.
// Empty lines and those that begin with # are skipped. Errors begin with name.
func ReadModules(ctx context.Context, in io.Reader, name string) ([]ident.Module, error) {
	var out []ident.Module
	n := 0
	err := console.EachLine(ctx, in, func(line string) error {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			return nil
		}
		m, err := ParseModule(line)
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		out = append(out, m)
		return nil
	})
	return out, err
}
