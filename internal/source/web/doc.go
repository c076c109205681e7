// Package web is the source that is an HTTP server of symbol files.
//
// All sources of a process share one Client: its connections, its bounds and
// what it knows of hosts that fail. A source of the configuration may reach
// any address, and goes through the proxy that the environment names. A
// guarded source, one that came with a request, may reach the public internet
// only: the address of every connection is checked when it is made, whatever
// name or redirect led to it, and no proxy is asked to reach another one.
//
// A fetch follows redirects itself and sends the headers and credentials of
// its source to no other origin. It tries again where that may help, as long
// as nothing was written, and bounds the time of every step and the bytes on
// both sides of the decoder. Its errors are *fault.Error; none of them, no
// candidate, attempt or log line holds a secret of the source.
//
// Client and Source are safe for concurrent use.
package web
