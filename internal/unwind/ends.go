package unwind

import "strings"

// isOutermostName reports whether a function of a module is one that no function
// calls: the kernel, the linker or another stack enters it. Names that programs
// use, too, count in libraries of the systems only.
func (w *walker) isOutermostName(m *Module, name string) bool {
	switch name {
	case "_start", "__start_context", // ELF; makecontext of glibc
		"clone", "__clone", "clone3", "__clone3", "__GI___clone", "__GI___clone3", "__bionic_clone", // a new thread
		"RtlUserThreadStart", "_RtlUserThreadStart",
		"runtime.goexit", "runtime.mcall", "runtime.morestack", "runtime.rt0_go", "runtime.clone": // Go
		return name != "clone" || !w.IsWindows && !w.IsApple
	case "thread_start", "_thread_start":
		return strings.HasPrefix(m.Name, "libsystem_pthread")
	case "start", "_dyld_start", "__dyld_start":
		return m.Name == "dyld"
	}
	return false
}

// callsFromOutermost reports whether only an outermost function, which often has
// no name, calls a function of a module.
func callsFromOutermost(m *Module, name string) bool {
	switch name {
	case "__libc_start_main", "__libc_start_main_impl", "BaseThreadInitThunk":
		return true
	case "start_thread", "__pthread_start", "__libc_init":
		return strings.HasPrefix(m.Name, "libc.") || strings.HasPrefix(m.Name, "libc-") || strings.HasPrefix(m.Name, "libpthread")
	case "_pthread_start":
		return strings.HasPrefix(m.Name, "libsystem_pthread")
	}
	return false
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
	switch {
	case f.isEntered:
		return "it was entered by a return"
	case w.isOutermostName(f.Module, f.name) && (!f.isExact || f.name == "_start"):
		// The parent thread may stop in clone, too; it has a caller.
		return f.name + " is an outermost function"
	case n > 1 && !f.isExact && callsFromOutermost(w.frames[n-2].Module, w.frames[n-2].name):
		return "only an outermost function calls " + w.frames[n-2].name
	}
	return ""
}

// startsCode reports whether pc is the start of code that unwind information
// covers, after code that it does not: no call is before it.
func (w *walker) startsCode(pc uint64) bool {
	addr := w.instruction(pc)
	m := w.Module(addr)
	return m != nil && m.hasRules() && m.covers(addr-m.Base) && !m.covers(addr-m.Base-w.step())
}
