// Package ui is the pages of the server, for people with a browser.
//
//	GET /                       try it: text, dumps, profiles and debug files; health at a glance
//	GET /ui/modules/NAME/ID     the trail of a module
//	GET /ui/PAGE                the other pages, listed in Routes
//
// Texts and files of forms are on disk while they are worked on, and bounded. Only profiles
// are kept, for an hour.
//
// A page has data, which a client that accepts application/json gets as JSON, and a
// view of the data in HTML. Its forms are POST requests to its own path, with the name of
// an action in the query: POST /ui/modules/NAME/ID?do=forget. After an action the client is
// redirected to a page, or gets the result. One that accepts text/event-stream gets events
// while the action runs: "progress" with {"text", "done", "total"}, and at the end "done"
// with {"to"} or {"html"}, or "failed" with {"error"}.
//
// Pages work without scripts, and load nothing from other servers. Links are relative, so
// that a proxy may serve them below another path.
//
// # Security
//
// As long as there are no tokens, only clients of this machine may use the pages;
// afterwards only those that sent a token to /ui/login, or with the request. Login sets a
// cookie with the token, encrypted with a key in the state, so that all nodes can read
// it, and neither the state nor the cookie alone reveals the token. It expires after
// twelve hours, or with the token. Forms of other origins are refused.
//
// Pages of other origins can only read the profiles that are kept for the Firefox
// Profiler, if they know the secret keys.
//
// All texts of files and requests are escaped. No page runs a script or uses a style that
// is not a file of this package.
package ui
