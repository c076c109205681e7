package reason

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"symbolon/internal/format/flate"
)

// windows returns the name of the exception, with the details from its parameters.
func (e *Exception) windows() string {
	text, access := exceptions[e.Code], e.access()
	switch {
	case e.Code == accessViolation:
		return text + access
	case e.Code == inPageError && e.Count >= 3 && access != "":
		return text + access + " / " + status(uint32(e.Params[2]))
	case e.Code == stackOverrun && e.Count >= 1:
		return "EXCEPTION_STACK_BUFFER_OVERRUN / " + fastFail(uint32(e.Params[0]))
	case text != "":
		return text
	}
	return WindowsError(e.Code)
}

// access returns the end of the name of a failed access, empty if it is unknown.
func (e *Exception) access() string {
	if e.Count < 1 || e.Params[0] > 8 {
		return ""
	}
	return accesses[uint32(e.Params[0])]
}

// WindowsError returns the name of an error of Windows, such as the last one of
// a thread.
func WindowsError(code uint32) string {
	tables := windowsTables()
	if text := lookUp(tables[win32], code); text != "" {
		return text
	}
	if text := lookUp(tables[ntstatus], code); text != "" {
		return text
	}
	if code>>28 != 0 && code>>16&0xfff == 109 {
		if text := lookUp(tables[win32], code&0xffff); text != "" {
			return "FACILITY_VISUALCPP / " + text
		}
	}
	return "unknown " + hex(code)
}

// status returns the name of an NTSTATUS value.
func status(code uint32) string { return cmp.Or(lookUp(windowsTables()[ntstatus], code), hex(code)) }

// fastFail returns the name of an argument of __fastfail.
func fastFail(code uint32) string { return cmp.Or(lookUp(windowsTables()[fastFails], code), hex(code)) }

// packed has the length of the text of the tables and that text, deflated.
//
//go:embed windows.z
var packed []byte

// The tables of windows.z. A line has eight digits of a number and its name; the
// lines of a table are in order, and an empty one ends it.
const (
	win32 = iota
	ntstatus
	fastFails
	tableCount
)

var windowsTables = sync.OnceValue(func() (tables [tableCount]string) {
	text := make([]byte, binary.LittleEndian.Uint32(packed))
	if _, err := flate.Raw(text, packed[4:], nil); err != nil {
		panic("reason: inflate windows.z: " + err.Error())
	}
	copy(tables[:], strings.Split(string(text), "\n\n"))
	return tables
})

// lookUp returns the name of a number in a table, empty if there is none.
func lookUp(table string, code uint32) string {
	key := fmt.Sprintf("%08x", code)
	for low, high := 0, len(table); low < high; {
		start := low + strings.LastIndexByte(table[low:(low+high)/2], '\n') + 1
		line, _, _ := strings.Cut(table[start:high], "\n")
		switch number := line[:len(key)]; {
		case number == key:
			return line[len(key):]
		case number < key:
			low = start + len(line) + 1
		default:
			high = start
		}
	}
	return ""
}

// accesses has the kinds of access that fail.
var accesses = names{0: "_READ", 1: "_WRITE", 8: "_EXEC"}

// exceptions has the exceptions of winnt.h and of well-known libraries.
var exceptions = names{
	0x80000001: "EXCEPTION_GUARD_PAGE", 0x80000002: "EXCEPTION_DATATYPE_MISALIGNMENT",
	0x80000003: "EXCEPTION_BREAKPOINT", 0x80000004: "EXCEPTION_SINGLE_STEP",
	accessViolation: "EXCEPTION_ACCESS_VIOLATION", inPageError: "EXCEPTION_IN_PAGE_ERROR",
	0xc0000008: "EXCEPTION_INVALID_HANDLE", 0xc000001d: "EXCEPTION_ILLEGAL_INSTRUCTION",
	0xc0000025: "EXCEPTION_NONCONTINUABLE_EXCEPTION", 0xc0000026: "EXCEPTION_INVALID_DISPOSITION",
	0xc000008c: "EXCEPTION_BOUNDS_EXCEEDED", 0xc000008d: "EXCEPTION_FLT_DENORMAL_OPERAND",
	0xc000008e: "EXCEPTION_FLT_DIVIDE_BY_ZERO", 0xc000008f: "EXCEPTION_FLT_INEXACT_RESULT",
	0xc0000090: "EXCEPTION_FLT_INVALID_OPERATION", 0xc0000091: "EXCEPTION_FLT_OVERFLOW",
	0xc0000092: "EXCEPTION_FLT_STACK_CHECK", 0xc0000093: "EXCEPTION_FLT_UNDERFLOW",
	0xc0000094: "EXCEPTION_INT_DIVIDE_BY_ZERO", 0xc0000095: "EXCEPTION_INT_OVERFLOW",
	0xc0000096: "EXCEPTION_PRIV_INSTRUCTION", 0xc00000fd: "EXCEPTION_STACK_OVERFLOW",
	0xc0000194: "EXCEPTION_POSSIBLE_DEADLOCK",
	0xe0000008: "Out of Memory",             // of Chromium's allocators
	0xe06d7363: "Unhandled C++ Exception",   // of Visual C++
	0xe0434352: "MANAGED_EXCEPTION_CODE_V4", // of .NET
	0x0517a7ed: "Simulated Exception",       // of Crashpad, without a crash
}
