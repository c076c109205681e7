// Package sentry serves the protocol of Sentry's Symbolicator: POST /symbolicate,
// and GET /requests/{id} for its answers.
//
// A request is a job (see api/jobs): it gets a slot, or 503. If it is not done within the
// timeout of the client, the answer is the id of the job, and the client polls for the
// result. With a Store, every node has the answers to all jobs.
//
// As an extension, a request with Accept: application/x-ndjson is answered in
// lines, {"type":"stacktrace"|"module","index":N,…} and a last one of type
// "status". They are sent as soon as their modules are found.
//
// Differences from Symbolicator: an image does not contain its end, except for
// return addresses; if a request disables scraping, or does not allow an origin,
// no source files are fetched from there; the configuration must allow sources of
// requests; options and scraping may be null; retry_after depends on the age of
// the job and is not always 30.
//
// An address of a request is absolute or relative to a module. place.go finds the
// module and the address of a frame; the engine makes the step back from a return
// address. Everything is safe for concurrent use.
//
// # Security
//
// Sources in a request make this server connect to addresses that the client
// chooses: they are refused unless sentry.allow_request_sources is set. Folders
// are refused unless they are below sentry.request_filesystem_root after links are
// followed. The id of a request is random, and sufficient to read its answer. One
// scope cannot take all places.
package sentry
