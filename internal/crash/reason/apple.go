package reason

import (
	"cmp"
	"fmt"

	"symbolon/internal/ident"
)

// Types of exceptions of Mach.
const (
	badAccess      = 1
	badInstruction = 2
	arithmetic     = 3
	software       = 5
	breakpoint     = 6
	resource       = 11
	guard          = 12
)

// apple returns the type of the exception and its first code, empty for an
// unknown type. Breakpad does not print resources and guards.
func (e *Exception) apple(isBreakpad bool) string {
	if text := crashpadTypes[e.Code]; text != "" {
		return text
	}
	text := machTypes[e.Code]
	if text == "" {
		return ""
	}
	kind := e.machKind()
	switch {
	case isBreakpad:
	case e.Code == resource:
		kind = e.resource()
	case e.Code == guard:
		kind = e.guard()
	}
	return text + " / " + cmp.Or(kind, hex(e.Flags))
}

// machKind returns the name of the first code, empty if it is unknown.
func (e *Exception) machKind() string {
	if e.Code == badAccess && kernKinds[e.Flags] != "" {
		return kernKinds[e.Flags]
	}
	return machKinds[e.Code][e.cpu()][e.Flags]
}

// resource returns the limit that was exceeded, and its figures.
func (e *Exception) resource() string {
	kind, code, subcode := e.Flags>>29, e.Params[1], e.Params[2]
	text := resourceTypes[kind]
	if text == "" {
		return ""
	}
	flavor := resourceFlavors[kind][uint32(code>>58&7)]
	if flavor == "" {
		return fmt.Sprintf("%s / 0x%016x / 0x%016x", text, code, subcode)
	}
	text += " / " + flavor
	switch kind {
	case 1:
		return fmt.Sprintf("%s interval: %ds CPU limit: %d%% CPU consumed: %d%%", text, code>>7&0x1ffffff, code&0x7f, subcode&0x7f)
	case 2:
		return fmt.Sprintf("%s interval: %ds wakeups permitted: %d wakeups observed: %d", text, code>>20&0xfff, code&0xfffff, subcode&0xfffff)
	case 3:
		return fmt.Sprintf("%s high watermark limit: %dMiB", text, code&0x1fff)
	case 4:
		return fmt.Sprintf("%s interval: %ds I/O limit: %dMB I/O observed: %dMB", text, code>>15&0x1ffff, code&0x7fff, subcode&0x7fff)
	}
	return fmt.Sprintf("%s high watermark limit: %d", text, code&0x7fff)
}

// guard returns the guarded thing that was misused, and its identifiers.
func (e *Exception) guard() string {
	kind, code, subcode := e.Flags>>29, e.Params[1], e.Params[2]
	text := guardTypes[kind]
	target := uint32(code)
	switch kind {
	case 0:
		return text
	case 3: // GUARD_TYPE_USER has no flavors
		return fmt.Sprintf("%s / namespace: %d guard identifier: %d", text, target, subcode)
	}
	if text == "" {
		return ""
	}
	flavor := guardFlavors[kind][uint32(code>>32&0x1fffffff)]
	if flavor == "" {
		return fmt.Sprintf("%s / 0x%016x / 0x%016x", text, code, subcode)
	}
	text += " / " + flavor
	switch kind {
	case 1:
		text += fmt.Sprintf(" port name: %d", target)
		if subcode != 0 {
			text += fmt.Sprintf(" subcode: %d", subcode)
		}
		return text
	case 2:
		return fmt.Sprintf("%s file descriptor: %d guard identifier: %d", text, target, subcode)
	case 4:
		return fmt.Sprintf("%s pid: %d guard identifier: %d", text, target, subcode)
	case 5:
		return fmt.Sprintf("%s offset: %d", text, subcode)
	}
	return fmt.Sprintf("%s syscall: %d", text, subcode)
}

// Instruction sets that number exceptions of their own.
const (
	otherCPU = iota
	x86
	arm64
	ppc
	cpuCount
)

func (e *Exception) cpu() int {
	switch e.Arch {
	case ident.ArchX86, ident.ArchX86_64, ident.ArchX86_64h:
		return x86
	case ident.ArchARM64, ident.ArchARM64v8, ident.ArchARM64e:
		return arm64
	case ident.ArchPPC:
		return ppc
	}
	return otherCPU
}

var machTypes = names{
	badAccess: "EXC_BAD_ACCESS", badInstruction: "EXC_BAD_INSTRUCTION", arithmetic: "EXC_ARITHMETIC", 4: "EXC_EMULATION",
	software: "EXC_SOFTWARE", breakpoint: "EXC_BREAKPOINT", 7: "EXC_SYSCALL", 8: "EXC_MACH_SYSCALL", 9: "EXC_RPC_ALERT",
	resource: "EXC_RESOURCE", guard: "EXC_GUARD",
}

// crashpadTypes has types that Crashpad invents: of a dump without a crash, and
// of an exception of Objective-C.
var crashpadTypes = names{0x43507378: "Simulated Exception", 0x43506e78: "Uncaught NSException"}

// Names of the first code of a type, from the headers of XNU: mach/kern_return.h,
// mach/…/exception.h and sys/ux_exception.h.
var (
	kernKinds = names{
		1: "KERN_INVALID_ADDRESS", 2: "KERN_PROTECTION_FAILURE", 5: "KERN_FAILURE", 8: "KERN_NO_ACCESS",
		9: "KERN_MEMORY_FAILURE", 10: "KERN_MEMORY_ERROR", 50: "KERN_CODESIGN_ERROR",
	}
	machKinds = map[uint32][cpuCount]names{
		badAccess: {
			x86: {13: "EXC_I386_GPFLT"},
			arm64: {
				0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG", 0x103: "EXC_ARM_SP_ALIGN", 0x104: "EXC_ARM_SWP",
				0x105: "EXC_ARM_PAC_FAIL",
			},
			ppc: {0x101: "EXC_PPC_VM_PROT_READ", 0x102: "EXC_PPC_BADSPACE", 0x103: "EXC_PPC_UNALIGNED"},
		},
		badInstruction: {
			x86: {
				1: "EXC_I386_INVOP", 10: "EXC_I386_INVTSSFLT", 11: "EXC_I386_SEGNPFLT", 12: "EXC_I386_STKFLT",
				13: "EXC_I386_GPFLT", 17: "EXC_I386_ALIGNFLT",
			},
			arm64: {1: "EXC_ARM_UNDEFINED"},
			ppc:   numbered("EXC_PPC_INVALID_SYSCALL EXC_PPC_UNIPL_INST EXC_PPC_PRIVINST EXC_PPC_PRIVREG EXC_PPC_TRACE EXC_PPC_PERFMON"),
		},
		arithmetic: {
			x86: numbered("EXC_I386_DIV EXC_I386_INTO EXC_I386_NOEXT EXC_I386_EXTOVR EXC_I386_EXTERR EXC_I386_EMERR EXC_I386_BOUND " +
				"EXC_I386_SSEEXTERR"),
			arm64: numbered("EXC_ARM_FP_IO EXC_ARM_FP_DZ EXC_ARM_FP_OF EXC_ARM_FP_UF EXC_ARM_FP_IX EXC_ARM_FP_ID"),
			ppc: numbered("EXC_PPC_OVERFLOW EXC_PPC_ZERO_DIVIDE EXC_FLT_INEXACT EXC_PPC_FLT_ZERO_DIVIDE EXC_PPC_FLT_UNDERFLOW " +
				"EXC_PPC_FLT_OVERFLOW EXC_PPC_FLT_NOT_A_NUMBER EXC_PPC_NOEMULATION EXC_PPC_ALTIVECASSIST"),
		},
		breakpoint: {
			x86:   numbered("EXC_I386_SGL EXC_I386_BPT"),
			arm64: {1: "EXC_ARM_BREAKPOINT"},
			ppc:   {1: "EXC_PPC_BREAKPOINT"},
		},
		software: {otherCPU: softwareKinds, x86: softwareKinds, arm64: softwareKinds, ppc: softwareKinds},
	}
	softwareKinds = names{1: "EXC_PPC_TRAP", 0x10002: "SIGABRT", 0x10100: "EXC_PPC_MIGRATE", 0xdeadc0de: "UNCAUGHT_NS_EXCEPTION"}
)

// Types and flavors of resources and guards, from kern/exc_resource.h,
// kern/exc_guard.h, mach/port.h and sys/guarded.h of XNU.
var (
	resourceTypes   = numbered("RESOURCE_TYPE_CPU RESOURCE_TYPE_WAKEUPS RESOURCE_TYPE_MEMORY RESOURCE_TYPE_IO RESOURCE_TYPE_THREADS")
	resourceFlavors = map[uint32]names{
		1: {1: "FLAVOR_CPU_MONITOR", 2: "FLAVOR_CPU_MONITOR_FATAL"},
		2: {1: "FLAVOR_WAKEUPS_MONITOR"},
		3: {1: "FLAVOR_HIGH_WATERMARK"},
		4: {1: "FLAVOR_IO_PHYSICAL_WRITES", 2: "FLAVOR_IO_LOGICAL_WRITES"},
		5: {1: "FLAVOR_THREADS_HIGH_WATERMARK"},
	}
	guardTypes = names{
		0: "GUARD_TYPE_NONE", 1: "GUARD_TYPE_MACH_PORT", 2: "GUARD_TYPE_FD", 3: "GUARD_TYPE_USER", 4: "GUARD_TYPE_VN",
		5: "GUARD_TYPE_VIRT_MEMORY", 6: "GUARD_TYPE_REJECTED_SC",
	}
	guardFlavors = map[uint32]names{
		1: {
			1: "GUARD_EXC_DESTROY", 2: "GUARD_EXC_MOD_REFS", 3: "GUARD_EXC_INVALID_OPTIONS", 4: "GUARD_EXC_SET_CONTEXT",
			5: "GUARD_EXC_THREAD_SET_STATE", 8: "GUARD_EXC_UNGUARDED", 0x10: "GUARD_EXC_INCORRECT_GUARD",
			0x20: "GUARD_EXC_IMMOVABLE", 0x40: "GUARD_EXC_STRICT_REPLY", 0x80: "GUARD_EXC_MSG_FILTERED",
			0x100: "GUARD_EXC_INVALID_RIGHT", 0x200: "GUARD_EXC_INVALID_NAME", 0x400: "GUARD_EXC_INVALID_VALUE",
			0x800: "GUARD_EXC_INVALID_ARGUMENT", 0x1000: "GUARD_EXC_RIGHT_EXISTS", 0x2000: "GUARD_EXC_KERN_NO_SPACE",
			0x4000: "GUARD_EXC_KERN_FAILURE", 0x8000: "GUARD_EXC_KERN_RESOURCE", 0x10000: "GUARD_EXC_SEND_INVALID_REPLY",
			0x20000: "GUARD_EXC_SEND_INVALID_VOUCHER", 0x40000: "GUARD_EXC_SEND_INVALID_RIGHT",
			0x80000: "GUARD_EXC_RCV_INVALID_NAME", 0x100000: "GUARD_EXC_RCV_GUARDED_DESC",
			0x200000: "GUARD_EXC_MOD_REFS_NON_FATAL", 0x400000: "GUARD_EXC_IMMOVABLE_NON_FATAL",
			0x800000: "GUARD_EXC_REQUIRE_REPLY_PORT_SEMANTICS", 0x1000000: "GUARD_EXC_EXCEPTION_BEHAVIOR_ENFORCE",
		},
		2: {
			1: "GUARD_EXC_CLOSE", 2: "GUARD_EXC_DUP", 4: "GUARD_EXC_NOCLOEXEC", 8: "GUARD_EXC_SOCKET_IPC",
			0x10: "GUARD_EXC_FILEPORT", 0x20: "GUARD_EXC_MISMATCH", 0x40: "GUARD_EXC_WRITE",
		},
		4: {
			1: "GUARD_EXC_RENAME_TO", 2: "GUARD_EXC_RENAME_FROM", 4: "GUARD_EXC_UNLINK", 8: "GUARD_EXC_WRITE_OTHER",
			0x10: "GUARD_EXC_TRUNC_OTHER", 0x20: "GUARD_EXC_LINK", 0x40: "GUARD_EXC_EXCHDATA",
		},
		5: {1: "GUARD_EXC_DEALLOC_GAP"},
		6: {0: "GUARD_EXC_MACH_TRAP"},
	}
)
