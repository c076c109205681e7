// Package transfer has the mechanisms that all transfers over a network share:
// a circuit breaker, the wait before a retry, a guard against transfers that
// stall, the reasons of failures, the headers Retry-After and Content-Range, and the
// escapes of paths.
//
// None of them makes a request. A caller decides which failures count, which
// ones another try may cure, and when a transfer waits for the other side. All
// types are safe for concurrent use.
package transfer
