package standin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"symbolon/internal/companion"
)

// LLVMVariable is the environment variable with the version of LLVM whose output
// llvm-symbolizer prints, if the option --llvm does not select one.
const LLVMVariable = "SYMBOLON_LLVM"

// llvmVersions are the values of LLVMVariable; the last one is the default.
var llvmVersions = [...]string{"14", "19"}

// llvmOptions are the options of llvm-symbolizer. docs/guides/llvm-symbolizer.md lists
// where the output differs.
type llvmOptions struct {
	program string // name in messages
	file    string // of all addresses; empty: each line names its file
	open    companion.Options

	is14 bool // prints the output of LLVM 14
	gnu  bool // the program is llvm-addr2line

	functions string // none, short or linkage
	style     string // LLVM, GNU or JSON
	basenames bool   // paths without folders

	inlines, demangle, pretty, addresses, verbose, relative, tagged, noSymbols bool

	buildID      []byte // of the file, instead of its name
	noDebuginfod bool   // servers of DEBUGINFOD_URLS are not asked

	hex     bool   // addresses are hexadecimal without 0x, too
	adjust  uint64 // subtracted from addresses
	context uint64 // lines of source

	markup bool   // standard input is a log with symbolizer markup
	color  string // always, never or auto, as which others count

	queries []string // empty: lines of standard input
}

// newLLVMOptions returns the options of an empty command line.
func newLLVMOptions(e *Env) (o llvmOptions, err error) {
	o = llvmOptions{program: "llvm-symbolizer", functions: "linkage", style: "LLVM", inlines: true, demangle: true}
	if v := e.Getenv(LLVMVariable); v != "" {
		err = o.setVersion(v)
	}
	return o, err
}

// setVersion selects the version of LLVM.
func (o *llvmOptions) setVersion(v string) error {
	if !slices.Contains(llvmVersions[:], v) {
		return fmt.Errorf("invalid version of LLVM %q: must be %s", v, strings.Join(llvmVersions[:], " or "))
	}
	o.is14 = v == llvmVersions[0]
	return nil
}

// useDebuginfod makes debug files come from servers too, unless that is switched off.
// The version 14 has no debuginfod.
func (o *llvmOptions) useDebuginfod(ctx context.Context, e *Env) error {
	if o.noDebuginfod || o.is14 || o.open.Fetch != nil {
		return nil
	}
	d, err := newDebuginfod(e)
	if d != nil {
		o.open.Fetch = func(id []byte) string { return d.find(ctx, id) }
	}
	return err
}

// likeAddr2line applies the defaults of llvm-addr2line.
func (o *llvmOptions) likeAddr2line() {
	o.program, o.gnu, o.hex = "llvm-addr2line", true, true
	o.functions, o.style, o.inlines, o.demangle, o.tagged = "none", "GNU", false, false, true
}
