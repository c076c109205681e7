// Package reason names exceptions: the numbers that a crash leaves in a dump, in
// the terms of the system on which it happened.
//
// The texts are those of rust-minidump, such as
//
//	SIGSEGV / SEGV_MAPERR
//	EXCEPTION_ACCESS_VIOLATION_READ
//	EXC_BAD_ACCESS / KERN_INVALID_ADDRESS
//	unknown 0x12345678
//
// and, by Exception.Breakpad, those of Breakpad, which has other separators and
// fewer names. Texts differ from rust-minidump's where that misreads Apple's
// exc_resource.h and exc_guard.h: percentages of CPU time have seven bits, counts
// of wakeups 20, targets of guards 32, and limits of I/O are megabytes.
//
// # Names of Windows
//
// windows.z has the Win32 errors, the NTSTATUS values and the codes of __fastfail;
// testdata/generate.go writes it. A number is looked up in this order: the exceptions of
// winnt.h, Win32 errors, NTSTATUS values, and Win32 errors that a facility wraps. The
// sets overlap, so a number of one set may get a name of another.
//
// The functions keep no state and are safe for concurrent use. The first name of
// an error of Windows takes a millisecond and 240 KB, which are kept.
package reason

import (
	"cmp"
	"fmt"
	"strings"

	"symbolon/internal/ident"
)

// A System is a family of operating systems that number exceptions alike.
type System uint8

const (
	Other   System = iota
	Windows        // Windows NT
	Linux          // Linux and Android
	Apple          // macOS and iOS
)

// An Exception has the numbers of an exception, in the words of a minidump.
type Exception struct {
	System System
	Arch   ident.Arch

	Code    uint32     // a signal on Linux, an exception type on Apple's systems
	Flags   uint32     // si_code on Linux, the first code on Apple's systems
	Address uint64     // of the exception record
	Params  [15]uint64 // of which Count are valid on Windows
	Count   int
}

// Codes of Windows that have parameters.
const (
	accessViolation = 0xc0000005
	inPageError     = 0xc0000006
	stackOverrun    = 0xc0000409
)

// String returns the reason of the crash as rust-minidump prints it.
func (e *Exception) String() string {
	text := ""
	switch e.System {
	case Windows:
		text = e.windows()
	case Linux:
		text = e.linux()
	case Apple:
		text = e.apple(false)
	}
	return cmp.Or(text, fmt.Sprintf("unknown 0x%08x / 0x%08x", e.Code, e.Flags))
}

// CrashAddress returns the address of the crash: of the access that failed, if
// the exception has it, otherwise usually of the instruction.
func (e *Exception) CrashAddress() uint64 {
	addr := e.Address
	if e.System == Windows && (e.Code == accessViolation || e.Code == inPageError) && e.Count >= 2 {
		addr = e.Params[1]
	}
	switch e.Arch.Family() {
	case ident.ArchX86, ident.ArchARM, ident.ArchMIPS, ident.ArchPPC, ident.ArchSPARC:
		return uint64(uint32(addr)) // it may be sign-extended
	}
	return addr
}

// names has the names of numbers.
type names map[uint32]string

// numbered returns the words of a list as the names of the numbers from 1 on.
func numbered(list string) names {
	n := names{}
	for word := range strings.FieldsSeq(list) {
		n[uint32(len(n)+1)] = word
	}
	return n
}

// hex returns a number as peers write unknown ones.
func hex(code uint32) string { return fmt.Sprintf("0x%08x", code) }
