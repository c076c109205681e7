package unwind

import "strings"

// outermost has the functions that no function calls: the kernel, the linker or
// another stack enters them. Some are common names elsewhere: the name of the
// module begins as given.
var outermost = map[string]string{
	"_start":              "", // ELF
	"__start_context":     "", // makecontext of glibc
	"clone":               "", // the new thread
	"__clone":             "",
	"clone3":              "",
	"__clone3":            "",
	"__GI___clone":        "",
	"__GI___clone3":       "",
	"__bionic_clone":      "",
	"thread_start":        "libsystem_pthread", // macOS
	"_dyld_start":         "dyld",
	"start":               "dyld",
	"RtlUserThreadStart":  "",
	"_RtlUserThreadStart": "",
	"runtime.goexit":      "", // Go
	"runtime.mcall":       "",
	"runtime.morestack":   "",
	"runtime.rt0_go":      "",
	"runtime.clone":       "",
}

// beforeOutermost has the functions that only an outermost function calls, which
// often has no name, and the start of the module's name.
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

// isOutermost returns the reason why the last frame has no caller, "" if it may
// have one.
func (w *walker) isOutermost() string {
	n := len(w.frames)
	f := &w.frames[n-1]
	if f.isEntered {
		return "it was entered by a return"
	}
	if name := w.outermostName(f.Module, f.name); name != "" && (!f.isExact || name == "_start") {
		// The parent thread may stop in clone, too; it has a caller.
		return name + " is an outermost function"
	}
	if n == 1 || f.isExact {
		return ""
	}
	callee := &w.frames[n-2]
	if prefix, ok := beforeOutermost[callee.name]; ok && strings.HasPrefix(callee.Module.Name, prefix) {
		return "only an outermost function calls " + callee.name
	}
	return ""
}

// outermostName returns the name of an outermost function of a module, "" if it
// is not one.
func (w *walker) outermostName(m *Module, name string) string {
	if w.IsApple && len(name) > 1 && name != "_dyld_start" {
		name = strings.TrimPrefix(name, "_")
	}
	prefix, ok := outermost[name]
	if !ok || !strings.HasPrefix(m.Name, prefix) || name == "clone" && (w.IsWindows || w.IsApple) {
		return ""
	}
	return name
}

// startsCode reports whether pc is the start of code that unwind information
// covers, after code that it does not: no call is before it.
func (w *walker) startsCode(pc uint64) bool {
	addr := w.instruction(pc)
	m := w.Module(addr)
	return m != nil && m.hasRules() && m.covers(addr-m.Base) && !m.covers(addr-m.Base-w.step())
}
