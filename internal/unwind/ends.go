package unwind

import "strings"

// outermost has the functions that no function calls. The kernel, the linker or
// another stack enters them.
var outermost = map[string]bool{
	"_start":              true, // ELF
	"__start_context":     true, // makecontext of glibc
	"clone":               true, // the new thread
	"__clone":             true,
	"clone3":              true,
	"__clone3":            true,
	"__GI___clone":        true,
	"__GI___clone3":       true,
	"__bionic_clone":      true,
	"thread_start":        true, // macOS
	"_dyld_start":         true,
	"RtlUserThreadStart":  true,
	"_RtlUserThreadStart": true,
	"runtime.goexit":      true, // Go
	"runtime.mcall":       true,
	"runtime.morestack":   true,
	"runtime.rt0_go":      true,
	"runtime.clone":       true,
}

// beforeOutermost has the functions that only an outermost function calls, which
// often has no name. Some are common names elsewhere: the module's name begins as
// given.
var beforeOutermost = map[string]string{
	"__libc_start_main":      "",
	"__libc_start_main_impl": "",
	"__libc_init":            "libc.so",
	"start_thread":           "lib",
	"__pthread_start":        "libc.so",
	"_pthread_start":         "libsystem_pthread",
	"BaseThreadInitThunk":    "",
}

// plain returns the name of a function without the decorations of symbol tables.
func plain(name string) string {
	name, _, _ = strings.Cut(name, "@") // version
	return strings.TrimSuffix(name, ".abi0")
}

// isOutermost returns the reason why a frame has no caller, "" if it may have
// one. The callee is the frame before it, nil for the innermost frame.
func (p *Process) isOutermost(f, callee *Frame) string {
	if f.Lookup == p.instruction(f.PC) && !f.isExact && !f.IsSignal {
		return "it was entered by a return"
	}
	if name := p.outermostName(f.Lookup); name != "" && (!f.isExact || name == "_start") {
		// The parent thread may stop in clone, too; it has a caller.
		return name + " is an outermost function"
	}
	if callee == nil || callee.Module == nil || callee.IsSignal {
		return ""
	}
	if _, name, ok := p.function(callee.Lookup); ok {
		name = plain(name)
		if prefix, ok := beforeOutermost[name]; ok && strings.HasPrefix(callee.Module.Name, prefix) {
			return "only an outermost function calls " + name
		}
	}
	return ""
}

// outermostName returns the name of the outermost function at an address, "" if
// it is not one.
func (p *Process) outermostName(addr uint64) string {
	_, name, ok := p.function(addr)
	if !ok {
		return ""
	}
	name = plain(name)
	if p.IsApple && !outermost[name] {
		name = strings.TrimPrefix(name, "_")
	}
	if outermost[name] || name == "start" && p.Module(addr).Name == "dyld" {
		return name
	}
	return ""
}

// isEntered reports whether pc is the start of code that is entered by a return
// although it did not call: a trampoline of signal handlers, or the end of a
// coroutine. The code before it, which would have called, is not part of a
// function then.
func (p *Process) isEntered(pc uint64) bool {
	if p.isTrampoline(pc) {
		return true
	}
	addr := p.instruction(pc)
	m := p.Module(addr)
	return m != nil && m.hasRules() && m.covers(addr-m.Base) && !m.covers(addr-m.Base-p.step())
}

// isTrampoline reports whether pc is the start of known code that is entered by
// a return.
func (p *Process) isTrampoline(pc uint64) bool {
	if p.trampoline(pc) != noTrampoline {
		return true
	}
	start, name, ok := p.function(p.instruction(pc))
	return ok && start == p.instruction(pc) && plain(name) == "__start_context"
}
