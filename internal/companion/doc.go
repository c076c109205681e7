// Package companion opens a debug file of the local disk together with its
// companions: the separate files that have parts of its debug information.
//
// Open searches, in this order, beside the file, in the folders of the options and in
// those of the system: the file that a debug link, a build id, a dSYM or the record of a
// PDB refers to, which replaces a binary without debug information; and the files that
// are supplied to the object (shared debug information of dwz, .dwo files and their
// packages, object files of a linked Mach-O image, symbol maps of Xcode, PDBs with the
// types of objects, a WebAssembly module with debug information). The identifiers of a
// companion must match, or its checksum where the file has nothing else. A file that is
// not found, or that cannot be opened, is not an error: the object answers less, and
// Object.Needs lists it.
//
// Files are mapped and stay open until Close. A File belongs to one goroutine. If another
// program truncates a mapped file, work on it ends with an error of object.RecoverFault;
// Cause reports whether a file was written meanwhile.
package companion
