// Package cab reads cabinets, the archives of files on Microsoft's symbol
// servers (.pd_, .dl_, .ex_).
//
// # Specification
//
// [MS-CAB],
// https://learn.microsoft.com/openspecs/exchange_server_protocols/ms-cab, for
// the cabinet; [MS-MCI] for MSZIP; [MS-PATCH], chapter 2, for LZX, with the
// deviations of the LZX in cabinets.
//
//	head     {"MSCF", 0, size, 0, offset of files, 0, version, folders, files,
//	         flags, set, number in the set[, bytes reserved in head, folders and
//	         blocks, and the first of those][, names of the previous and the
//	         next cabinet]}
//	folder   {offset of the first block, number of blocks, compression[, reserved]}
//	file     {size, offset in the unpacked folder, folder, date, time, attributes,
//	         name}
//	block    {checksum, packed size, size[, reserved], bytes}
//
// A folder is one stream of up to 65,535 blocks of up to 32 KiB each, which
// contains its files one after the other. Blocks are stored, or compressed with
//
//   - MSZIP: "CK" and a DEFLATE stream, which may refer to the block before it.
//   - LZX: a window of 32 KiB to 2 MiB. Its own blocks, whose trees are encoded as
//     differences to the previous ones, do not end at the ends of the cabinet's
//     blocks. Bits are read from words of 16 bits, the highest bit first, and
//     start at a new word in each block of the cabinet. The targets of calls in
//     x86 code may be absolute; they are converted back.
//
// Quantum is Unsupported.
//
// # Deviations met in the wild
//
//   - A checksum of zero is ignored. Reserved bytes of a block are not summed.
//   - Names have backslashes; those without the UTF-8 attribute are in the code
//     page of the machine that wrote them.
//   - A file may begin or end in another cabinet of a set. It is Unsupported, and
//     so are the files after it in a folder that began in another cabinet.
//
// # Limits
//
// A Reader holds one block, one window of at most 4 MiB, and the list of files.
// It unpacks each folder once, reads no byte of the cabinet twice, and stops at
// the limit of its caller. Damage of a folder affects only the files that have
// not been unpacked before it. A Reader belongs to one goroutine.
package cab
