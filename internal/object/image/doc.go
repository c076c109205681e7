// Package image reads binaries: ELF, Mach-O, PE, COFF and WebAssembly. It opens their
// sections, and package units answers from the symbols and units in them.
//
// A module-relative address is that of the file less the image base: in ELF the
// address of the first loaded segment, in Mach-O that of __TEXT, in PE the preferred
// base. Addresses of WebAssembly are offsets in the file. In an object file every
// section of code begins at 0.
//
// Needs lists the files to which debug information was moved: split DWARF, alternate
// files, dSYMs and the object files of a debug map, PDBs, the map of hidden names.
package image
