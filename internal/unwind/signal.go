package unwind

import "symbolon/internal/bin"

// A trampoline is code that is entered by a return although it did not call: that
// to which a signal handler returns, by its layout of the stack, and the end of a
// coroutine.
type trampoline uint8

const (
	noTrampoline trampoline = iota
	returnRT                // of sigaction with SA_SIGINFO
	returnOld               // of x86 and arm without it
	returnVDSO              // in the kernel's module without symbols: any of them
	coroutineEnd            // of makecontext
)

var trampolineNames = map[string]trampoline{
	"__restore_rt":                 returnRT, // glibc, musl, bionic
	"__kernel_rt_sigreturn":        returnRT, // vDSO
	"__default_rt_sa_restorer":     returnRT, // glibc on arm
	"runtime.sigreturn":            returnRT, // Go
	"__restore":                    returnOld,
	"__kernel_sigreturn":           returnOld,
	"__default_sa_restorer":        returnOld,
	"runtime.sigreturn__sigaction": returnRT,
	"__start_context":              coroutineEnd, // glibc
}

// trampolineCode has the instructions of trampolines, by CPU: they put the number
// of the system call into a register and call the kernel.
var trampolineCode = map[string][]struct {
	kind trampoline
	code string
}{
	"amd64": {
		{returnRT, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"}, // MOV RAX, 15
		{returnRT, "\xb8\x0f\x00\x00\x00\x0f\x05"},
	},
	"x86": {
		{returnRT, "\xb8\xad\x00\x00\x00\xcd\x80"},      // MOV EAX, 173
		{returnOld, "\x58\xb8\x77\x00\x00\x00\xcd\x80"}, // POP EAX; MOV EAX, 119
	},
	"arm64": {{returnRT, "\x68\x11\x80\xd2\x01\x00\x00\xd4"}}, // MOV X8, 139
	"arm": {
		{returnRT, "\xad\x70\xa0\xe3\x00\x00\x00\xef"}, // MOV R7, 173
		{returnRT, "\xad\x27\x00\xdf"},
		{returnOld, "\x77\x70\xa0\xe3\x00\x00\x00\xef"}, // MOV R7, 119
		{returnOld, "\x77\x27\x00\xdf"},
	},
}

// isKnown reports whether t is known by its name or code. Other addresses of the
// kernel's module are not.
func (t trampoline) isKnown() bool { return t != noTrampoline && t != returnVDSO }

// trampoline returns the kind of trampoline at an address.
func (w *walker) trampoline(pc uint64) trampoline {
	codes := trampolineCode[w.CPU.Name]
	if len(codes) == 0 || w.IsWindows || w.IsApple {
		return noTrampoline
	}
	addr := w.instruction(pc)
	if start, name, ok := w.function(addr); ok && start == addr {
		if t := trampolineNames[plain(name)]; t != noTrampoline {
			return t
		}
	}
	b := w.buf[:12]
	for _, c := range codes {
		if n := len(c.code); w.Memory.ReadAt(b[:n], addr) == n && string(b[:n]) == c.code {
			return c.kind
		}
	}
	if m := w.Module(addr); m != nil && vdsoNames[m.Name] && w.CPU.Name != "amd64" {
		return returnVDSO
	}
	return noTrampoline
}

// vdsoNames has the names that dumps give to the kernel's module.
var vdsoNames = map[string]bool{"linux-gate.so": true, "linux-gate.so.1": true, "linux-vdso.so.1": true, "[vdso]": true}

// A savedSet has the offsets of registers in the frame that the kernel pushes for
// a signal handler, from the stack pointer in the trampoline on.
type savedSet struct {
	at    uint64   // of the first register
	names []string // of the registers there; - is another
}

var (
	savedX86 = bin.RegisterNames("- - - - edi esi ebp esp ebx edx ecx eax - - eip - eflags")
	savedARM = bin.RegisterNames("r0-10 fp r12 sp lr pc")
)

// saved has the structs of <asm/sigcontext.h>, in struct ucontext, which follows
// struct siginfo of 128 bytes except on amd64.
var saved = map[string][returnOld + 1]savedSet{
	"amd64": {returnRT: {40, bin.RegisterNames("r8-15 rdi rsi rbp rbx rdx rax rcx rsp rip")}},
	"x86":   {returnRT: {12 + 128 + 20, savedX86}, returnOld: {4, savedX86}},
	"arm64": {returnRT: {128 + 176 + 8, bin.RegisterNames("x0-28 fp lr sp pc")}},
	"arm":   {returnRT: {128 + 32, savedARM}, returnOld: {32, savedARM}},
}

const fromSignal = "saved registers of the signal"

// interrupted finds the registers that a signal interrupted, from the frame in
// whose trampoline f is.
func (w *walker) interrupted(f *Frame) (c caller, ok bool) {
	kind := w.trampoline(f.PC)
	if kind != returnVDSO {
		if c, ok = w.savedRegisters(f, kind); ok {
			w.found(fromSignal)
		}
		return c, ok
	}
	for kind = returnRT; kind <= returnOld; kind++ {
		if c, ok = w.savedRegisters(f, kind); ok {
			pc, _ := c.regs.Get(w.CPU.PC)
			why := w.refuseCode(w.instruction(pc))
			if why == "" {
				w.found(fromSignal)
				return c, true
			}
			w.note(fromSignal, pc, why)
		}
	}
	return c, false
}

// savedRegisters reads the registers that the kernel saved for a signal handler.
func (w *walker) savedRegisters(f *Frame, kind trampoline) (c caller, ok bool) {
	sp, _ := f.Registers.Get(w.CPU.SP)
	set := saved[w.CPU.Name][kind]
	for i, name := range set.names {
		addr := sp + set.at + uint64(i*w.CPU.Word)
		v, readable := w.word(addr)
		if !readable {
			w.note(fromSignal, addr, "unreadable memory")
			return c, false
		}
		if reg, known := w.CPU.Reg(name); known {
			c.regs.Set(reg, v)
		}
	}
	// The program counter may be anything: a call of a null pointer is a reason
	// for a signal. The stack pointer is not.
	if sp, _ = c.regs.Get(w.CPU.SP); sp < lowest || sp%uint64(w.CPU.Word) != 0 && w.CPU.Name != "x86" {
		w.note(fromSignal, sp, "not a stack pointer")
		return c, false
	}
	c.trust, c.isExact = CFI, true
	return c, true
}
