// Package minidump reads minidumps: the threads, modules and parts of the
// memory of a process, written when it crashed. Windows, Breakpad, Crashpad and
// others write them on Windows, Linux, Android, macOS and iOS, in both byte
// orders.
//
// # Specification
//
// <minidumpapiset.h> of the Windows SDK, and minidump_format.h of
// https://chromium.googlesource.com/breakpad/breakpad. Structures are packed.
//
//	header     {"MDMP", version, count, offset of the directory, checksum, time, flags}
//	directory  {type, size, offset} for each stream
//	list       {count, entries}, with or without 4 bytes of padding after the count
//	table      {size of this header, size of an entry, count, ..., entries}
//	string     {length in bytes, UTF-16}
//
// # Deviations met in the wild
//
//   - The platform of Windows is 1, 2 or 3.
//   - A 32-bit process has addresses that are sign-extended to 64 bits.
//   - Windows writes stacks without an offset in the list of threads; the list of
//     memory has them.
//   - A process on Linux has no version numbers. The text of uname, where the
//     others have a service pack, contains the version.
//   - arm64 has two layouts of registers; Breakpad writes its own older one, also
//     with the number of the newer one.
//   - The flags of Windows' registers may have bits that describe the state of the
//     processor, among them bits that mark other processors elsewhere.
//   - A Linux binary without a build id has an id computed from its code.
//
// # Limits
//
// Open fails only without a header, a directory, system information or a list of
// threads. Other damage costs the damaged stream, entry or name only, and is
// listed in File.Problems, up to 64 of them. If a stream occurs twice, the last
// one that is not damaged counts. Lists are read up to 65,536 entries, those of
// memory up to 524,288, and all texts together up to 16 MiB. Memory, registers
// and the texts of Linux stay in the source until they are needed.
//
// A File does not change after Open and is safe for concurrent use if its source
// is. Its bytes alias the source if that is in memory.
package minidump
