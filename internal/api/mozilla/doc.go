// Package mozilla is the door that speaks as Mozilla's symbolication service
// and symbol server do: POST /symbolicate/v5 and /symbolicate/v4, and reads of
// .sym files by /{debug file}/{debug id}/{name}.sym, also below /try.
//
// The contract is that of Eliot, Mozilla's present service: values, key sets,
// error texts and their order. It is widened only where nobody who relies on
// Eliot can see it: more than 10 jobs, addresses of 64 bits, any name and id of a
// module, its code id as a third element, and function_size and module_errors for
// those who ask for "extensions". Config.Strict takes back what a request can be refused for. With the v4 profile
// "tecken", v4 is that of its predecessor instead.
//
// A body is decoded as it arrives, into flat lists, and checked afterwards, as
// Eliot does: bad JSON anywhere comes first, then the first bad job. An answer
// is encoded in pieces while it is sent. Neither allocates for each frame.
//
// Limits: jobs, frames, stacks and distinct modules of a request (Config), the
// depth of JSON, the length of a number and of a name (scan.go), as every frame
// of the answer repeats the name of its module. The front bounds the body.
//
// A Door is safe for concurrent use.
package mozilla
