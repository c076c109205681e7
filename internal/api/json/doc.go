// Package json reads requests and writes answers in JSON, as streams. It is for
// large documents, where encoding/json takes an allocation for each value.
//
// A Decoder reads one document value by value, as its caller asks. A Table
// reads an object by its members. The caller bounds the number of
// elements; the Decoder bounds nesting, the length of numbers, and the part of a
// string that it keeps. It accepts a document if encoding/json does and its text
// is UTF-8; a byte order mark before it is allowed, and reported in HasBOM.
//
// An Encoder appends values to a buffer and writes the buffer in pieces. It
// writes the commas; its caller closes each array and object that it opens.
//
// Both keep the first error and do nothing after it. Neither is safe for
// concurrent use.
package json
