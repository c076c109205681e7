// Package mozilla serves the protocols of Mozilla's symbolication service and
// symbol server: POST /symbolicate/v5 and /symbolicate/v4, and .sym files at
// /{debug file}/{debug id}/{name}.sym, also below /try.
//
// The contract is that of Eliot, Mozilla's present service: values, sets of keys, texts
// of errors and their order. It accepts more where clients of Eliot cannot notice: more
// than 10 jobs, 64-bit addresses, any name and id of a module, its code id as a third
// element, and function_size and module_errors for requests with "extensions". With
// Config.Strict, requests that Eliot refuses are refused. With the v4 profile "tecken",
// v4 answers like Tecken, Eliot's predecessor.
//
// A body is decoded as it arrives, into flat lists, and a job is checked at its
// end: an error of the JSON comes first, then the first invalid job. An answer is
// encoded in pieces while it is sent. Neither allocates memory for each frame.
//
// Limits: jobs, frames, stacks and distinct modules of a request (Config), the
// depth of JSON and the length of a number (api/json), and the length of a name,
// since every frame of the answer repeats the name of its module. The front
// limits the body.
//
// A Door is safe for concurrent use.
package mozilla
