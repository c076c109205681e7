// Package web is the source of files on an HTTP server.
//
// All sources of a process share one Client: its connections, its limits and its
// list of failing hosts. A source of the configuration may reach any address, and
// uses the proxy of the environment. A guarded source, which a request named, may
// reach the public internet only: the address of every connection is checked when
// it is made, after names are resolved and redirects followed, and no proxy is
// used.
//
// A fetch follows redirects itself and sends the headers and credentials of its
// source only to the source's origin. It retries after failures that may pass, as
// long as nothing was written, and bounds the time of every step and the bytes
// before and after the decoder. Its errors are *fault.Error. No error, candidate,
// attempt or log line has a secret of the source.
//
// Client and Source are safe for concurrent use.
package web
