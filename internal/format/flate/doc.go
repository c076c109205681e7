// Package flate inflates data whose unpacked size is known, as that of a
// compressed section is: into one slice, which is the window of back
// references at the same time.
//
// It reads the DEFLATE format (RFC 1951) and its zlib wrapping (RFC 1950) with
// header and Adler-32 checksum. Preset dictionaries are Unsupported. What is
// behind the end of a stream is not looked at: sections are padded.
//
// What is accepted is what the compress/flate of Go accepts: a code must be
// complete, except that a code with a single word of one bit, and a distance
// code with no word at all, may stand.
//
// # Memory and time
//
// A decoder holds some 10 KiB of tables and never allocates by what it reads.
// Time is bounded by the sum of the bytes read and written; input that yields
// nothing costs most, some half a microsecond for each byte.
//
// Nothing is written behind the end of dst.
package flate
