// Package rawjson reads JSON documents in memory without decoding them, and
// writes them with changes.
//
// A Reader goes through a document once, as its caller asks: it enters arrays and
// objects, reads values, or skips them and returns their bytes. It checks the syntax of
// all that it passes, but not whether strings are UTF-8, and allocates only the texts of
// strings with escapes. An Editor copies a document and replaces parts of it; all other
// bytes stay unchanged.
//
// Nesting is limited to 512 levels. Nothing here is safe for concurrent use.
package rawjson
