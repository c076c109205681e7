// Package cab reads cabinets, the archives in which Microsoft's symbol servers
// keep their files (.pd_, .dl_, .ex_).
//
// # Specification
//
// [MS-CAB], https://learn.microsoft.com/openspecs/exchange_server_protocols/ms-cab,
// for the cabinet; [MS-MCI] for MSZIP; [MS-PATCH], chapter 2, for LZX, with the
// deviations that the LZX of cabinets has.
//
//	head     {"MSCF", 0, size, 0, offset of files, 0, version, folders, files,
//	         flags, set, number in the set[, bytes reserved in head, folders and
//	         blocks, and the first of those][, names of the cabinet before, and
//	         behind]}
//	folder   {offset of the first block, number of blocks, compression[, reserved]}
//	file     {size, offset in the unpacked folder, folder, date, time, attributes,
//	         name}
//	block    {checksum, packed size, size[, reserved], bytes}
//
// A folder is one stream of up to 65,535 blocks of up to 32 KiB each, in which its
// files lie one behind the other. Blocks are stored as they are, or as
//
//   - MSZIP: "CK" and a DEFLATE stream, which refers to the block before it.
//   - LZX: a window of 32 KiB to 2 MiB; its own blocks, the trees of which are told
//     by differences to those before, do not end where those of the cabinet do.
//     Bits are taken from words of 16 bits, the highest one first, and begin anew
//     with every block of the cabinet. The targets of calls in x86 code may be
//     absolute; they are made relative again.
//
// Quantum is Unsupported.
//
// # Met in the wild
//
//   - A checksum of zero is none. What is reserved in a block is not summed.
//   - Names have backslashes; those without the UTF-8 attribute are in the code
//     page of whoever made them.
//   - A file may begin or end in another cabinet of a set. It is Unsupported, and
//     so is what follows in a folder that began elsewhere.
//
// # Limits
//
// A Reader holds one block, one window of at most 4 MiB, and the list of files. It
// unpacks each folder once, reads no byte of the cabinet twice, and stops at the
// bytes that its caller allows. What is wrong with a folder costs the files that
// are not unpacked by then. A Reader belongs to one goroutine.
package cab
