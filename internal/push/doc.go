// Package push sends the symbols of programs to a server of Elastic's profiler.
//
// A Client lists files of folders, patterns and installed packages. Of each file
// it extracts ranges and return pads (package extract), with the debug information
// of separate files (package companion) or of debuginfod servers; cuts both into
// parts; asks the server which contents it has; and sends the rest, several parts
// at a time.
//
// Parts that fail for a while are retried with back off, five attempts in all. A
// journal in the user's cache directory records each part that the server took,
// so that an interrupted push continues within a day. The key is removed from
// every text that a server may repeat.
//
// A Client reports through Events and prints nothing. It pushes one file at a
// time and belongs to one goroutine.
package push
