package reason_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/crash/reason"
	"symbolon/internal/ident"
)

// A case of an exception: its first parameters, and its texts.
type example struct {
	code, flags    uint32
	params         []uint64
	text, breakpad string
}

func check(t *testing.T, system reason.System, arch ident.Arch, examples []example) {
	t.Helper()
	for _, x := range examples {
		e := reason.Exception{System: system, Arch: arch, Code: x.code, Flags: x.flags, Count: len(x.params)}
		copy(e.Params[:], x.params)
		if got := e.String(); got != x.text {
			t.Errorf("%08x %08x %x: %q, not %q", x.code, x.flags, x.params, got, x.text)
		}
		if got := e.Breakpad(); got != x.breakpad {
			t.Errorf("%08x %08x %x: Breakpad's %q, not %q", x.code, x.flags, x.params, got, x.breakpad)
		}
	}
}

func TestSignalsHaveTheirCauses(t *testing.T) {
	check(t, reason.Linux, ident.ArchX86_64, []example{
		{11, 1, nil, "SIGSEGV / SEGV_MAPERR", "SIGSEGV /SEGV_MAPERR"},
		{11, 0x80, nil, "SIGSEGV / SI_KERNEL", "SIGSEGV /0x00000080"},
		{11, 0x77, nil, "SIGSEGV / 0x00000077", "SIGSEGV /0x00000077"},
		{11, 0, nil, "SIGSEGV", "SIGSEGV /0x00000000"},
		{6, 0xfffffffa, nil, "SIGABRT / SI_TKILL", "SIGABRT"},
		{8, 0xfffffffa, nil, "SIGFPE / SI_TKILL", "SIGFPE / 0xfffffffa"},
		{8, 1, nil, "SIGFPE / FPE_INTDIV", "SIGFPE / FPE_INTDIV"},
		{4, 2, nil, "SIGILL / ILL_ILLOPN", "SIGILL / ILL_ILLOPN"},
		{5, 1, nil, "SIGTRAP / TRAP_BRKPT", "SIGTRAP"},
		{7, 4, nil, "SIGBUS / BUS_MCEERR_AR", "SIGBUS / BUS_MCEERR_AR"},
		{31, 1, nil, "SIGSYS / SYS_SECCOMP", "SIGSYS"},
		{15, 1, nil, "SIGTERM / 0x00000001", "SIGTERM"},
		{15, 0xffffffc4, nil, "SIGTERM / SI_ASYNCNL", "SIGTERM"},
		{0xffffffff, 0, nil, "DUMP_REQUESTED", "DUMP_REQUESTED"},
		{63, 9, nil, "unknown 0x0000003f / 0x00000009", "0x0000003f / 0x00000009"},
	})
}

func TestExceptionsOfWindowsHaveTheirParameters(t *testing.T) {
	check(t, reason.Windows, ident.ArchX86_64, []example{
		{0xc0000005, 0, []uint64{1, 2}, "EXCEPTION_ACCESS_VIOLATION_WRITE", "EXCEPTION_ACCESS_VIOLATION_WRITE"},
		{0xc0000005, 0, []uint64{8}, "EXCEPTION_ACCESS_VIOLATION_EXEC", "EXCEPTION_ACCESS_VIOLATION_EXEC"},
		{0xc0000005, 0, []uint64{7}, "EXCEPTION_ACCESS_VIOLATION", "EXCEPTION_ACCESS_VIOLATION"},
		{0xc0000005, 0, []uint64{1 << 32}, "EXCEPTION_ACCESS_VIOLATION", "EXCEPTION_ACCESS_VIOLATION"},
		{0xc0000005, 0, nil, "EXCEPTION_ACCESS_VIOLATION", "EXCEPTION_ACCESS_VIOLATION"},
		{0xc0000006, 0, []uint64{0, 1, 0xffffffffc000009a},
			"EXCEPTION_IN_PAGE_ERROR_READ / STATUS_INSUFFICIENT_RESOURCES", "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_INSUFFICIENT_RESOURCES"},
		{0xc0000006, 0, []uint64{0, 1, 0x7fffffff}, "EXCEPTION_IN_PAGE_ERROR_READ / 0x7fffffff", "EXCEPTION_IN_PAGE_ERROR_READ / 0x7fffffff"},
		{0xc0000006, 0, []uint64{0, 1}, "EXCEPTION_IN_PAGE_ERROR", "EXCEPTION_IN_PAGE_ERROR_READ"},
		{0xc0000409, 0, []uint64{7}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT", "FAST_FAIL_FATAL_APP_EXIT"},
		{0xc0000409, 0, []uint64{0xabc}, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x00000abc", "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{0xc0000409, 0, nil, "STATUS_STACK_BUFFER_OVERRUN", "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{0xc0000374, 0, nil, "STATUS_HEAP_CORRUPTION", "EXCEPTION_HEAP_CORRUPTION"},
		{0xc00000ff, 0, nil, "STATUS_BAD_FUNCTION_TABLE", "EXCEPTION_BAD_FUNCTION_TABLE"},
		{0x40010005, 0, nil, "DBG_CONTROL_C", "DBG_CONTROL_C"},
		{0xe06d7363, 1, nil, "Unhandled C++ Exception", "Unhandled C++ Exception"},
		{0xe0434352, 1, nil, "MANAGED_EXCEPTION_CODE_V4", "0xe0434352 / 0x00000001"},
		{0xc06d007e, 0, nil, "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND", "0xc06d007e / 0x00000000"},
		{0x006d007e, 0, nil, "unknown 0x006d007e", "0x006d007e / 0x00000000"},
		{0x12345678, 0, nil, "unknown 0x12345678", "0x12345678 / 0x00000000"},
	})
}

func TestExceptionsOfMachDependOnTheProcessor(t *testing.T) {
	check(t, reason.Apple, ident.ArchX86_64, []example{
		{1, 1, nil, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"},
		{1, 13, nil, "EXC_BAD_ACCESS / EXC_I386_GPFLT", "EXC_BAD_ACCESS / EXC_I386_GPFLT"},
		{1, 0x101, nil, "EXC_BAD_ACCESS / 0x00000101", "EXC_BAD_ACCESS / 0x00000101"},
		{2, 1, nil, "EXC_BAD_INSTRUCTION / EXC_I386_INVOP", "EXC_BAD_INSTRUCTION / EXC_I386_INVOP"},
		{3, 1, nil, "EXC_ARITHMETIC / EXC_I386_DIV", "EXC_ARITHMETIC / EXC_I386_DIV"},
		{4, 3, nil, "EXC_EMULATION / 0x00000003", "EXC_EMULATION / 0x00000003"},
		{5, 0x10002, nil, "EXC_SOFTWARE / SIGABRT", "EXC_SOFTWARE / SIGABRT"},
		{6, 2, nil, "EXC_BREAKPOINT / EXC_I386_BPT", "EXC_BREAKPOINT / EXC_I386_BPT"},
		{0x43507378, 2, nil, "Simulated Exception", "Simulated Exception"},
		{99, 2, nil, "unknown 0x00000063 / 0x00000002", "0x00000063 / 0x00000002"},
	})
	check(t, reason.Apple, ident.ArchARM64e, []example{
		{1, 0x105, nil, "EXC_BAD_ACCESS / EXC_ARM_PAC_FAIL", "EXC_BAD_ACCESS / EXC_ARM_PAC_FAIL"},
		{6, 1, nil, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT", "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT"},
		{6, 2, nil, "EXC_BREAKPOINT / 0x00000002", "EXC_BREAKPOINT / 0x00000002"},
	})
	check(t, reason.Apple, ident.ArchPPC, []example{
		{3, 2, nil, "EXC_ARITHMETIC / EXC_PPC_ZERO_DIVIDE", "EXC_ARITHMETIC / EXC_PPC_ZERO_DIVIDE"},
	})
	check(t, reason.Apple, ident.ArchARMv7, []example{
		{1, 0x101, nil, "EXC_BAD_ACCESS / 0x00000101", "EXC_BAD_ACCESS / 0x00000101"},
	})
}

func TestLimitsAndGuardsOfMachAreDecoded(t *testing.T) {
	// flags are the upper half of the code, params are unused, code, subcode.
	at := func(kind uint32, code, subcode uint64) reason.Exception {
		e := reason.Exception{System: reason.Apple, Arch: ident.ArchARM64, Code: kind, Flags: uint32(code >> 32)}
		e.Params[1], e.Params[2] = code, subcode
		return e
	}
	for _, x := range []struct {
		kind          uint32
		code, subcode uint64
		text          string
	}{
		{11, 1<<61 | 1<<58 | 180<<7 | 80, 93, "RESOURCE_TYPE_CPU / FLAVOR_CPU_MONITOR interval: 180s CPU limit: 80% CPU consumed: 93%"},
		{11, 1 << 61, 0x55, "RESOURCE_TYPE_CPU / 0x2000000000000000 / 0x0000000000000055"},
		{11, 2<<61 | 1<<58 | 300<<20 | 45000, 50000,
			"RESOURCE_TYPE_WAKEUPS / FLAVOR_WAKEUPS_MONITOR interval: 300s wakeups permitted: 45000 wakeups observed: 50000"},
		{11, 3<<61 | 1<<58 | 2098, 0, "RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: 2098MiB"},
		{11, 4<<61 | 2<<58 | 60<<15 | 100, 101, "RESOURCE_TYPE_IO / FLAVOR_IO_LOGICAL_WRITES interval: 60s I/O limit: 100MB I/O observed: 101MB"},
		{11, 5<<61 | 1<<58 | 512, 0, "RESOURCE_TYPE_THREADS / FLAVOR_THREADS_HIGH_WATERMARK high watermark limit: 512"},
		{11, 7 << 61, 0, "0xe0000000"},
		{12, 0, 0, "GUARD_TYPE_NONE"},
		{12, 1<<61 | 2<<32 | 0xf0001803, 0, "GUARD_TYPE_MACH_PORT / GUARD_EXC_MOD_REFS port name: 4026537987"},
		{12, 1<<61 | 2<<32 | 0x1803, 7, "GUARD_TYPE_MACH_PORT / GUARD_EXC_MOD_REFS port name: 6147 subcode: 7"},
		{12, 2<<61 | 2<<32 | 1, 48879, "GUARD_TYPE_FD / GUARD_EXC_DUP file descriptor: 1 guard identifier: 48879"},
		{12, 2<<61 | 3<<32, 1, "GUARD_TYPE_FD / 0x4000000300000000 / 0x0000000000000001"},
		{12, 3<<61 | 6, 1, "GUARD_TYPE_USER / namespace: 6 guard identifier: 1"},
		{12, 4<<61 | 1<<32 | 99, 1, "GUARD_TYPE_VN / GUARD_EXC_RENAME_TO pid: 99 guard identifier: 1"},
		{12, 5<<61 | 1<<32, 4096, "GUARD_TYPE_VIRT_MEMORY / GUARD_EXC_DEALLOC_GAP offset: 4096"},
		{12, 6 << 61, 26, "GUARD_TYPE_REJECTED_SC / GUARD_EXC_MACH_TRAP syscall: 26"},
		{12, 7 << 61, 0, "0xe0000000"},
	} {
		e := at(x.kind, x.code, x.subcode)
		if got, want := e.String(), map[uint32]string{11: "EXC_RESOURCE / ", 12: "EXC_GUARD / "}[x.kind]+x.text; got != want {
			t.Errorf("%x %x: %q, not %q", x.code, x.subcode, got, want)
		}
	}
}

func TestErrorsOfWindowsHaveNames(t *testing.T) {
	for code, want := range map[uint32]string{
		0:          "ERROR_SUCCESS", // the first line of the first table
		5:          "ERROR_ACCESS_DENIED",
		126:        "ERROR_MOD_NOT_FOUND",
		1400:       "ERROR_INVALID_WINDOW_HANDLE",
		1722:       "RPC_S_SERVER_UNAVAILABLE",
		10054:      "WSAECONNRESET",
		15841:      "ERROR_API_UNAVAILABLE", // the last one
		0x10001:    "DBG_EXCEPTION_HANDLED",
		0xc0000005: "STATUS_ACCESS_VIOLATION",
		0xc000000d: "STATUS_INVALID_PARAMETER",
		0xc0ef0001: "STATUS_ACCELERATOR_SUBMISSION_QUEUE_FULL", // the last one
		0xc06d007f: "FACILITY_VISUALCPP / ERROR_PROC_NOT_FOUND",
		0xffffffff: "unknown 0xffffffff",
		0x0000ffff: "unknown 0x0000ffff",
	} {
		if got := reason.WindowsError(code); got != want {
			t.Errorf("%08x: %q, not %q", code, got, want)
		}
	}
}

func TestUnknownSystemsHaveNumbers(t *testing.T) {
	check(t, reason.Other, ident.ArchX86_64, []example{{11, 1, nil, "unknown 0x0000000b / 0x00000001", "0x0000000b / 0x00000001"}})
}

func TestCrashAddressIsThatOfTheAccess(t *testing.T) {
	const at = 0xffffffff_80001000
	for name, x := range map[string]struct {
		e    reason.Exception
		want uint64
	}{
		"Linux":                 {reason.Exception{System: reason.Linux, Arch: ident.ArchX86_64, Code: 11, Address: at}, at},
		"Linux, 32 bits":        {reason.Exception{System: reason.Linux, Arch: ident.ArchMIPSel, Code: 11, Address: at}, 0x80001000},
		"violation":             {reason.Exception{System: reason.Windows, Code: 0xc0000005, Address: at, Params: [15]uint64{0, 8}, Count: 2}, 8},
		"violation, 32 bits":    {reason.Exception{System: reason.Windows, Arch: ident.ArchX86, Code: 0xc0000005, Params: [15]uint64{0, at}, Count: 2}, 0x80001000},
		"in page":               {reason.Exception{System: reason.Windows, Code: 0xc0000006, Address: at, Params: [15]uint64{0, 8}, Count: 3}, 8},
		"violation, no address": {reason.Exception{System: reason.Windows, Code: 0xc0000005, Address: at, Params: [15]uint64{0, 8}, Count: 1}, at},
		"breakpoint":            {reason.Exception{System: reason.Windows, Code: 0x80000003, Address: at, Params: [15]uint64{0, 8}, Count: 2}, at},
	} {
		if got := x.e.CrashAddress(); got != x.want {
			t.Errorf("%s: %x, not %x", name, got, x.want)
		}
	}
}

// Every exception has texts, and unknown numbers are part of them.
func FuzzException(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint32(0xc0000006), uint32(0), uint64(0), uint64(1), uint64(0xc000009a), 3)
	f.Add(uint8(1), uint8(0), uint32(0xc0000409), uint32(0), uint64(7), uint64(1), uint64(0), 1)
	f.Add(uint8(1), uint8(0), uint32(0xc06d007e), uint32(0), uint64(7), uint64(1), uint64(0), 1)
	f.Add(uint8(1), uint8(0), uint32(0xc0000005), uint32(0), uint64(8), uint64(1), uint64(0), 2)
	f.Add(uint8(2), uint8(0), uint32(11), uint32(1), uint64(0), uint64(0), uint64(0), 0)
	for i := range 8 {
		f.Add(uint8(3), uint8(0), uint32(11), uint32(i)<<29, uint64(0), uint64(i)<<61|1<<58, uint64(9), 3)
		f.Add(uint8(3), uint8(0), uint32(12), uint32(i)<<29, uint64(0), uint64(i)<<61|1<<32, uint64(9), 3)
		f.Add(uint8(3), uint8(i%4), uint32(i), uint32(1), uint64(0), uint64(0), uint64(0), 0)
	}
	f.Fuzz(func(t *testing.T, system, arch uint8, code, flags uint32, a, b, c uint64, count int) {
		e := reason.Exception{
			System: reason.System(system % 4), Arch: []ident.Arch{ident.ArchX86_64, ident.ArchARM64, ident.ArchPPC, ident.ArchARM}[arch%4],
			Code: code, Flags: flags, Params: [15]uint64{a, b, c}, Count: count,
		}
		text, breakpad := e.String(), e.Breakpad()
		if text == "" || breakpad == "" {
			t.Errorf("%q %q", text, breakpad)
		}
		if strings.HasPrefix(text, "unknown ") && !strings.Contains(text, fmt.Sprintf("0x%08x", code)) {
			t.Errorf("%08x: %q", code, text)
		}
		if addr := e.CrashAddress(); addr != uint64(uint32(addr)) && arch%4 >= 2 {
			t.Errorf("%x", addr)
		}
	})
}
