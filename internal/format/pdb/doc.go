// Package pdb reads PDBs, the debug files of Windows.
//
// # Specification
//
// The format has no official specification. It is described in
// https://llvm.org/docs/PDB/index.html and
// https://github.com/microsoft/microsoft-pdb (cvinfo.h for the records).
//
// A PDB is a file system: it consists of blocks of one size, and a directory
// assembles them to streams. The package reads
//
//	1  info     GUID, age, names of further streams
//	2  types    records in numeric order: the argument types of functions
//	3  debug    modules, contributions to sections, numbers of further streams
//	4  items    records in numeric order: the inlined functions
//	   names    paths of sources, programs of frames
//	   module   symbol records, then line information, for each module
//	   symbols  public symbols, by name; separately their order by address
//	   section headers, frame data, address maps
//
// An object file has the same records and line information in sections of its
// own, .debug$S and .debug$T: OpenObject makes them the one module of a File.
// Types and items have common numbers there, and strings are those of the object.
//
// Symbol records nest: a procedure contains the calls that were inlined into
// it, and these contain further calls. The code of a call is encoded by
// annotations, small operations on an offset and a line. The position of a call
// is not stored: it is the line of the enclosing function or call.
//
// # Deviations met in the wild
//
//   - The age in the info stream increases with every tool that changes the file.
//     Binaries refer to the age of the debug stream.
//   - The blocks of a stream that are written last may precede those written
//     first, and blocks 1 and 2 of each group belong to no stream.
//   - Compilers up to 2002 store the length before a name. Those of 2017 write
//     invalid file offsets for inlined calls: the file of the function is used.
//   - Annotations may leave the last line without an end. It is assumed to be one
//     byte long.
//   - Lines 0xfeefee and 0xf00f00 are hints for debuggers, and the previous line
//     continues.
//   - The last one of several lines at one offset wins; some lines of a procedure
//     are of code before it or after it (assemblers).
//   - Rust declares functions of a type, which have no receiver, with the first
//     argument in place of the receiver.
//   - Incremental linkers store the same frame data twice.
//   - With link-time code generation a module refers to types by numbers of other
//     modules, which are resolved by imports and exports.
//   - Tools that move code after linking store a map of addresses, OMAP.
//
// Public symbols have no size, and only their section distinguishes code from
// data.
//
// # Damage and limits
//
// Open fails only without a directory or an identity. Other damage affects only
// the damaged part, and is listed in File.Problems (the first 64 are kept) or
// returned when the part is read. As no block belongs to two streams, all
// streams together may not have more blocks than the file, and no two modules
// may have the same stream. Procedures may share each line 16 times on average;
// code may be split into 1024 ranges. Scopes nest up to 256 deep, types up to
// 32; a name needs at most 4096 records and ends soon after 16 KiB. Beyond
// these limits the arguments of the function are omitted.
//
// Open reads only the directory, the list of modules, contributions, section
// headers and the order of public symbols; other parts are read when they are
// needed. Bytes are used in place if they are contiguous and the file is in
// memory. PDBs of version 2 and compressed ones (MSFZ) are rejected. Line
// information in the form before 2005 is skipped.
//
// A File does not change after Open and is safe for concurrent use if its
// source is. A Body belongs to one goroutine.
package pdb
