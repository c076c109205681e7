// Package api is the HTTP front of all doors: it finds the route of a request, and does
// the common work.
//
// A door is a list of Routes; New panics if two doors have the same path. For every
// request the Front
//
//   - sets the request id, or takes that of a proxy, and writes one line to the log;
//   - takes the token out of a path /t/TOKEN/PATH;
//   - answers CORS, preflights, unknown paths and wrong methods itself;
//   - limits the number of requests that are served;
//   - gives the handler a decoded body of limited size, and does not let it stall;
//   - compresses the answer as the client prefers, and does not let it stall either;
//   - turns a panic into an answer and a line in the log.
//
// Errors are JSON objects, {"title": "404 Not Found"} unless the route has another
// form. Only this package turns kinds of fault into status codes. A door gets a
// *Refusal if it cannot read a body.
//
// The Front also serves health, version and metrics.
//
// Everything is safe for concurrent use. Limits: see Config.
package api
