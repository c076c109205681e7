// Package ppdb reads portable PDBs, the debug files of .NET.
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
//	          of the assembly, whose rows determine the widths of columns here
//	#~, #-    {reserved, version, widths of heaps, set of tables, set of sorted
//	          ones, rows of each table}, then the tables
//	#Blob     byte strings, each preceded by its length
//	#GUID     GUIDs, counted from 1
//
// The package reads the tables Document, MethodDebugInformation and
// CustomDebugInformation. It knows the columns of all others too, since their
// size is needed to find the tables after them: an assembly may contain its
// portable PDB.
//
// A method is identified by its token, 0x06 and a row of MethodDef; the row of
// MethodDebugInformation has the same number. Its sequence points are sorted by
// offset in the IL code of the method. The code after a hidden one has no line.
//
// # Deviations met in the wild
//
//   - Document names are split into parts at their separators, usually "/" or
//     "\"; a part may be empty.
//   - Embedded sources are compressed only if that makes them smaller.
//   - #Pdb has the row counts of the assembly's tables, which the file lacks;
//     with more than 65,535 methods, columns are wider.
//
// # Limits and concurrency
//
// A path is truncated to 4 KiB. Once the sequence points of all methods exceed
// the size of #Blob by 256 KiB, further methods are skipped. Open fails only
// without a usable root, without #Pdb, which has the id, or without tables.
// Other damage affects only the damaged part, and is listed in File.Problems
// (the first 64 are kept) or returned by Points.Err. A File does not change
// after Open and is safe for concurrent use; a Points belongs to one goroutine.
// Results alias the source if that is in memory.
package ppdb
