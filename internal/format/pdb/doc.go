// Package pdb reads PDBs, the debug files of Windows, in the words of that
// format.
//
// # Specification
//
// There is none. What is known is in https://llvm.org/docs/PDB/index.html and in
// https://github.com/microsoft/microsoft-pdb (cvinfo.h for the records).
//
// A PDB is a file system: blocks of one size, of which a directory makes
// streams. Read are
//
//	1  info     GUID, age, names of further streams
//	2  types    records with rising numbers: what the arguments of functions are
//	3  debug    modules, contributions to sections, numbers of further streams
//	4  items    records with rising numbers: which function was inlined
//	   names    paths of sources, programs of frames
//	   module   symbol records, then line information, for each module
//	   symbols  what is public, by name; beside it its order by address
//	   section headers, frame data, address maps
//
// Symbol records nest: a procedure holds the calls that were inlined into it,
// and these hold others. A call says by annotations, small operations on an
// offset and a line, which code it has. Nothing says where it was called: that
// is the line of what is around it.
//
// # Met in the wild
//
//   - The age in the info stream rises with every tool that touches the file. The
//     one that a binary names is that of the debug stream.
//   - The blocks of a stream that are written last are not behind those that were
//     written first, and blocks 1 and 2 of each group are not of any stream.
//   - Compilers up to 2002 put the length in front of a name. Those of 2017 name
//     files of inlined calls by places where no file is: the file of the function
//     is taken.
//   - Annotations may leave the last line without an end. It is taken to be one
//     byte long.
//   - Lines 0xfeefee and 0xf00f00 are hints for debuggers, and the line before
//     goes on.
//   - Of lines at one place the last one counts; of lines of one procedure some
//     are of code in front of it or behind it (assemblers).
//   - Rust gives functions of a type, which are called without an object, the
//     first argument as if it were the object.
//   - Incremental linkers leave the same frame data twice.
//   - With link time code generation a module speaks of types by numbers of other
//     modules: those are resolved by imports and exports.
//   - Tools that move code around after linking leave a map of addresses, OMAP.
//
// Public symbols have no size, and there is no telling code from data among
// them but by section.
//
// # Damage and limits
//
// Open fails only without a directory or an identity. Everything else that is
// broken costs itself, and is told in File.Problems, of which the first 64 are
// kept, or by what reads it. As no block belongs to two streams, all streams
// together may not have more blocks than the file, and no two modules one stream.
// Procedures may share each line 16 times on average; code may be torn into 1024
// pieces. Scopes nest up to 256 deep,
// types up to 32; a name takes at most 4096 records and ends soon after 16 KiB.
// Then the arguments of the function are left out.
//
// Nothing is read before it is needed but the directory, the list of modules,
// contributions, section headers and the order of public symbols. Bytes are used
// in place if the file is in memory and they follow each other. PDBs of version
// 2 and compressed ones (MSFZ) are refused. Line information of the form before
// 2005 is passed over.
//
// A File is not changed after Open and is safe for concurrent use if its source
// is. A Body belongs to one goroutine.
package pdb
