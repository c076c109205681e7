// Package profiler answers the requests of the Firefox Profiler for source files and
// disassembly, as samply does.
//
//	POST /source/v1   {"debugName", "debugId", "moduleOffset", "file"}
//	POST /asm/v1      {"name", "codeId", "debugName", "debugId", "startAddress", "size", "continueUntilFunctionEnd"}
//
// Addresses are strings such as "0x1f", relative to the module. Errors have the status
// 200, with the text in "error", which the profiler shows, and in "title", which samply
// sends; only an invalid token and requests that the front refuses have another status.
//
// A file is sent only if the frames at moduleOffset have its path, byte for byte, so a
// client can read only paths in the debug information of a module. Its text comes from a
// source bundle, from debug information with embedded sources, from a debuginfod server,
// or from a folder that the configuration allows. Disassembly is of at most 256 KiB of
// the program, and of one request at a time.
//
// A Door and a Viewer are safe for concurrent use.
package profiler
