// Package wasm reads WebAssembly modules: their sections, the functions of the
// code section with their names, and their identifiers.
//
// # Specification
//
// https://webassembly.github.io/spec/core/binary/modules.html and its appendix
// on the name section; DWARF, external_debug_info and build_id as in
// https://yurydelendik.github.io/webassembly-dwarf/ and
// https://github.com/WebAssembly/tool-conventions/blob/main/BuildId.md. Objects
// are described in Linking.md there.
//
//	module   "\0asm", version 1, then sections
//	section  {id, size, content}; the content of id 0, a custom section, begins
//	         with a name
//
// # Addresses
//
// An address is an offset in the file, as reported by browsers. A function
// begins after the size of its body and ends with the body; the size of the
// next body belongs to no function. DWARF addresses are relative to CodeOffset.
//
// # Objects
//
// An object, which is not linked, has a section for linkers, and the names of its
// functions in the symbol table there. Its debug information has relocations for
// the linker; compilers have applied them, so they are not read.
//
// # Deviations met in the wild
//
//   - wasm-ld writes the build id with its length, according to the convention;
//     wasm-split of Sentry omits the length. Symbol stores that were filled by
//     peers list the first form under all its 17 bytes.
//   - Numbers are padded to five bytes, which linkers reserve.
//   - The name section, DWARF and even the code may be removed; the URL of the
//     module that has them is in external_debug_info.
//
// Open fails only for files that are not modules. Other damage is listed in
// Problems, or returned when the part is read; a section that extends past the
// end of the file is truncated. A File does not change after Open and is safe
// for concurrent use if its source is.
package wasm
