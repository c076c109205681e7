// Package bundle reads and writes source bundles: the sources of one debug
// file in one archive, as symbolic defined them
// (https://docs.rs/symbolic-debuginfo, module sourcebundle).
//
// A bundle is "SYSB", the version 2 as a number of 32 bits, and a ZIP archive
// (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT). The archive
// holds manifest.json and what that lists:
//
//	{"files": {"files/src/a.c": {"type": "source", "path": "/src/a.c", "url": "...",
//	           "headers": {"debug-id": "...", "sourcemap": "..."}}},
//	 "source_links": {"C:\\src\\*": "https://..."},
//	 "arch": "x86_64", "debug_id": "...", "code_id": "...", "object_name": "app"}
//
// Read are entries that are stored or deflated, with and without zip64. The
// ZIP part is read by us, since what a reader of archives keeps for a file is
// many times what the file takes in its directory. Names are compared as they
// stand, paths with slashes for backslashes and without "." and "..".
//
// # Met in the wild
//
//   - sentry-cli counts offsets from the start of the bundle, others from the
//     start of the ZIP part. The place of the directory tells.
//   - More than 65,535 files: zip64.
//   - Headers in any case. Debug ids with and without hyphens.
//
// # Limits
//
// A manifest has up to 128 MiB. What is kept of the directory and the manifest
// is in proportion to their bytes. A file gives no more than its caller asks
// for, whatever the directory says, and memory for it grows as it unpacks.
//
// A Bundle does not change once it is open, and is safe for concurrent use if
// its source is.
package bundle
