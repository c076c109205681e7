// Package debuginfod serves the protocol of debuginfod to debuggers:
//
//	/buildid/ID/debuginfo      the file with the debug information
//	/buildid/ID/executable     the program
//	/buildid/ID/source/PATH    a source file, by its path in the debug information
//	/buildid/ID/section/NAME   a section of the first two, as it is in the file
//	/metadata?key=&value=      the uploads with a build id or a name
//
// ID is parsed: it may be a build id in any case, padded or not, the UUID of a Mach-O
// file, or the GUID and age of a Windows one. PATH is taken as sent; it is a key among
// the paths that debug information has, and never the path of a file.
//
// Clients remember for ten minutes that a file is missing, after any answer but 200.
// So a request waits for a place on a full server, and if a source fails the
// connection is reset (Config), after which clients try again.
//
// A Door is safe for concurrent use.
package debuginfod
