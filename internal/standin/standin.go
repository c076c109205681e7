package standin

import (
	"context"
	"strings"

	"symbolon/internal/ident"
)

// A Tool runs a command line, the name of the program first, and returns the exit
// status.
type Tool func(ctx context.Context, e *Env, args []string) int

// For returns the tool that a program of this name replaces, or nil. The
// name may have a folder, the prefix of a target, a version and ".exe".
func For(program string) Tool {
	name := ident.FileName(program)
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if i := strings.LastIndexByte(name, '-'); i > 0 && isVersion(name[i+1:]) {
		name = name[:i]
	}
	switch {
	case name == "llvm-addr2line" || strings.HasSuffix(name, "-llvm-addr2line"):
		return llvmAddr2line
	case name == "addr2line" || strings.HasSuffix(name, "-addr2line"):
		return addr2line
	case name == "llvm-symbolizer" || strings.HasSuffix(name, "-llvm-symbolizer"):
		return llvmSymbolizer
	}
	return nil
}

func isVersion(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.") == ""
}
