// Package markup adds names to logs with LLVM's symbolizer markup, which Fuchsia and
// runtimes of sanitizers write:
//
//	{{{module:0:libc.so:elf:83238ab56ba10497}}}
//	{{{mmap:0x7acba69d5000:0x5a000:load:0:rx:0x1000}}}
//	{{{bt:0:0x7acba69d6234:pc}}}
//
// Filter replaces the elements bt, pc and symbol that have a name with what
// llvm-symbolizer --filter-markup prints for them, and copies everything else. It also
// copies the elements with modules and maps, which that program summarizes, so that a
// later run can add the names that this one does not find. Element and Context are for
// programs that print all of it their own way.
package markup
