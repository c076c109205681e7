// Package ppdb reads portable PDBs, the debug files of .NET, in the words of
// that format.
//
// # Specification
//
// ECMA-335, partition II, chapters 22 to 24 (metadata), and
// https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md
//
//	root      {"BSJB", major, minor, reserved, length of version}, version,
//	          {flags, number of streams}, then for each stream
//	          {offset, size, name padded to 4 bytes}
//	#Pdb      {id of 20 bytes, entry point, set of tables, rows of each of them}:
//	          of the assembly, whose rows tell how wide columns here are
//	#~, #-    {reserved, version, widths of heaps, set of tables, set of sorted
//	          ones, rows of each table}, then the tables
//	#Blob     pieces of bytes, each behind its length
//	#GUID     GUIDs, counted from 1
//
// Read are the tables Document, MethodDebugInformation and
// CustomDebugInformation. The columns of all others are known too, since what is
// behind them must be found: an assembly may have its portable PDB inside.
//
// A method is named by its token, 0x06 and a row of MethodDef; the row of
// MethodDebugInformation has the same number. Its sequence points rise by their
// offset in the code of the method, which is IL. A hidden one says that what
// follows has no line.
//
// # Met in the wild
//
//   - Document names are cut into parts at their separators, which is mostly "/"
//     or "\"; a part may be empty.
//   - Embedded sources are packed only where that makes them shorter.
//   - The tables of the assembly that are not there have counts in #Pdb; there
//     can be more than 65,535 methods, which makes columns wider.
//
// # Limits
//
// A path is cut at 4 KiB. Methods whose sequence points are together sixteen times
// as long as #Blob are left out. Open fails only without a usable root, without #Pdb,
// which alone has the id, or without tables. Everything else that is broken costs
// itself, and is told in File.Problems, of which the first 64 are kept, or by
// Points.Err. A File is not changed after Open and is safe for concurrent use.
// What it gives out are parts of the source where that is in memory.
package ppdb
