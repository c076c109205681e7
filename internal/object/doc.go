// Package object gives debug files of every format one shape: what the file is,
// and the answers it has for addresses. Package debugfile opens files; the packages
// below this one read their formats and are the only place where the words of a
// format become those of sym.
//
// A File has one or more Objects, one for each binary it describes. An Object
// answers addresses straight from the bytes of its file: it reads and parses only
// what an address needs. Blocks gives everything to a table builder, in the order
// of addresses. Both make the same frames, because the same code resolves them.
//
// A reader implements View, and Coder, Unwinder, Sourcer, Supplied and the others
// that its format has data for. It is given an Input. Object does the
// rest for all formats: it recovers when the disk under mapped memory fails,
// replaces places in C++ by those in C# (Mapped), and bounds the length of names
// (Names).
//
// # Addresses and texts
//
// The image base is subtracted from addresses. A sym.Text is a handle that only
// the Object which returned it can resolve. Paths have no "." and ".." segments,
// and backslashes if one has a backslash, a drive letter or two leading slashes;
// links into version control are unchanged. Those of Breakpad files are as written,
// which crashes are shown with; CleanPath makes them like the others. Bytes that are
// not UTF-8 become U+FFFD.
//
// # Languages
//
// A function, and each inlined call, has the language of the unit that its name
// comes from: in DWARF that of the definition, in a portable PDB that of the
// document of its first line. Names of PDBs, of symbol tables and of Breakpad
// files have none, not even mangled ones.
//
// # Sources
//
// Source files are found by path: in a bundle, in line programs of DWARF 5, in
// portable PDBs; or else a link to them. Of several files of one path the first
// counts. One may have 64 MiB.
//
// # Concurrency
//
// An Object is safe for concurrent use if its source is. It keeps the source and
// must not be used after that is closed. Supply and Rebase come before all other
// use. Damage in a file costs the damaged part only, and Info reports it. Blocks
// leaves no goroutine running.
package object
