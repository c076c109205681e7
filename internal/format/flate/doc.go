// Package flate inflates data of a known size, such as a compressed section:
// into one slice, which is also the window of back references.
//
// It reads the DEFLATE format (RFC 1951) and its zlib wrapping (RFC 1950) with
// header and Adler-32 checksum. Preset dictionaries are Unsupported. Bytes
// after the end of a stream are ignored: sections are padded.
//
// It accepts the same streams as compress/flate of Go: a code must be complete,
// except that a code of a single one-bit word and a distance code without words
// are accepted.
//
// # Memory and time
//
// A decoder has about 10 KiB of tables and never allocates according to its
// input. Time is bounded by the sum of the bytes read and written; input
// without output costs most, about half a microsecond for each byte.
//
// Nothing is written after the end of dst. The functions are safe for
// concurrent use.
package flate
