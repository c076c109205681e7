// Package sentry is the door that speaks as Sentry's Symbolicator does: POST
// /symbolicate with GET /requests/{id} behind it.
//
// A request is a job: it gets a place, or 503, and is worked on whether or not
// its client waits. One that is not done in the time that the client gives is
// answered with its id, and its answer is kept for a while, packed. The answer
// to a request that waits to the end is kept nowhere. With a Store, any node
// answers for the jobs of all.
//
// As an addition, a request with Accept: application/x-ndjson is answered in
// lines, {"type":"stacktrace"|"module","index":N,…} and a last one of type
// "status": the first ones while the rest is made.
//
// Where the door differs from Symbolicator: the end of an image is not in it,
// except for return addresses; nothing is fetched for a request that switches
// scraping off, nor from origins that it does not allow; sources of requests
// have to be allowed by the configuration; null is accepted for options and
// scraping; retry_after tells how long the job waits already, not always 30.
//
// Addresses of the wire are absolute or relative to a module; which one a
// frame asks for is decided in place.go, what the step back from a return
// address is by the engine. Everything is safe for concurrent use.
//
// # Security
//
// Sources in a request make this server connect to places that the client
// names: they are refused unless sentry.allow_request_sources is set. Folders
// are refused unless they are below sentry.request_filesystem_root, links
// followed. An id of a request is random, and all that is needed to read its
// answer. One scope cannot take the places of all others.
package sentry
