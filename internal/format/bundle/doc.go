// Package bundle reads and writes source bundles: the sources of a debug file
// in an archive, as defined by symbolic (https://docs.rs/symbolic-debuginfo,
// module sourcebundle).
//
// A bundle is "SYSB", the version 2 as a number of 32 bits, and a ZIP archive
// (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT). The archive
// contains manifest.json and the files that it lists:
//
//	{"files": {"files/src/a.c": {"type": "source", "path": "/src/a.c", "url": "...",
//	           "headers": {"debug-id": "...", "sourcemap": "..."}}},
//	 "source_links": {"C:\\src\\*": "https://..."},
//	 "arch": "x86_64", "debug_id": "...", "code_id": "...", "object_name": "app"}
//
// Entries may be stored or deflated, with and without zip64. The package reads
// the ZIP format itself, since archive/zip needs many times the memory of the
// directory for its entries. Names are compared literally; paths are compared
// with slashes for backslashes and without "." and "..".
//
// # Deviations met in the wild
//
//   - sentry-cli counts offsets from the start of the bundle, others from the
//     start of the ZIP part. The offset of the directory tells which.
//   - More than 65,535 files: zip64.
//   - Headers in any case. Debug ids with and without hyphens.
//
// # Limits
//
// A manifest has up to 128 MiB. The memory of a Bundle is proportional to the
// bytes of the directory and the manifest. The content of a file is limited by
// the caller, whatever the directory states, and memory for it grows while it
// is inflated.
//
// A Bundle does not change after Open, and is safe for concurrent use if its
// source is.
package bundle
