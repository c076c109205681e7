// Package debuginfod serves the protocol of debuginfod to debuggers:
//
//	/buildid/ID/debuginfo      the file with the debug information
//	/buildid/ID/executable     the program
//	/buildid/ID/source/PATH    a source file, by its path in the debug information
//	/buildid/ID/section/NAME   a section of the first two, as it is in the file
//	/metadata?key=&value=      the uploads with a build id or a name
//
// ID is parsed: it may be a build id in any case, padded or not, the UUID of a Mach-O
// file, or the GUID and age of a Windows one. PATH is used as sent: it is compared with
// the paths in debug information, and never used as the path of a file.
//
// After any answer but 200, clients remember for ten minutes that a file is missing. So a
// request waits for a place on a full server, and if a source fails the connection is
// reset (Config), after which clients try again.
//
// A Door is safe for concurrent use.
package debuginfod
