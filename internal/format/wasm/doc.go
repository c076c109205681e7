// Package wasm reads WebAssembly modules: their sections, the functions of the
// code section with their names, and what identifies them.
//
// # Specification
//
// https://webassembly.github.io/spec/core/binary/modules.html and its appendix
// on the name section; DWARF, external_debug_info and build_id as in
// https://yurydelendik.github.io/webassembly-dwarf/ and
// https://github.com/WebAssembly/tool-conventions/blob/main/BuildId.md.
//
//	module   "\0asm", version 1, then sections
//	section  {id, size, content}; the content of id 0, a custom section, begins
//	         with a name
//
// # Addresses
//
// An address is an offset in the file, as browsers report it. A function begins
// behind the size of its body and reaches to the next one: the size of the next
// body belongs to nobody else. DWARF counts from CodeOffset.
//
// # Met in the wild
//
//   - wasm-ld writes the build id with its length in front, as the convention
//     says; wasm-split of Sentry writes it bare. Symbol stores that were filled
//     by peers know the first form under all its 17 bytes.
//   - Numbers padded to five bytes, which linkers leave room for.
//   - The name section, DWARF and even the code taken away, with the URL of the
//     module that has them in external_debug_info.
//
// Open fails only for what is no module. What else is broken is in Problems, or
// returned by what reads it; a section that is longer than the file is cut. A
// File is not changed after Open and is safe for concurrent use if its source
// is.
package wasm
