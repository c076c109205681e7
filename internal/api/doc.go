// Package api is the one HTTP front of all doors: it finds the route of a
// request and does around the door's handler what is the same for all of them.
//
// A door is a list of Routes; New takes the doors and panics when two of them
// claim one path. For every request the Front
//
//   - gives or takes over a request id, and writes one line to the log;
//   - answers CORS, preflights, unknown paths and wrong methods itself;
//   - keeps the number of requests that are worked on under a bound;
//   - hands the handler a decoded body of bounded size that may not stall;
//   - packs the answer as the client prefers, and lets no reader stall either;
//   - turns a panic into an answer and a line in the log.
//
// Errors are JSON objects, {"title": "404 Not Found"} unless the route words
// them otherwise. The kinds of fault become status codes here and nowhere
// else. A door that reads a body gets a *BodyError when that goes wrong.
//
// The Front also serves what every service has: health, version, metrics and a
// page that says what this is.
//
// Everything is safe for concurrent use. Limits: see Config.
package api
