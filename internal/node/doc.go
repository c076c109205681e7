// Package node builds a running node from a configuration, and serves the
// commands that operators send to it.
//
// New opens, in the order of the ranks, the disk cache, the network client, the caches
// that nodes share, the sources, the store of uploads, and then the locator, the tables
// and the engine. Front adds the HTTP interfaces. A Node holds the lock of its data
// directory until Close, which ends all work and closes everything in reverse order.
//
// A Node reads no flags and handles no signals, and prints only the output of the
// commands. ListenControl serves its methods on a socket in the data directory; Dial
// returns a Remote with the same methods, which calls the node of another process.
//
// All methods but Front and Close may be called from several goroutines.
package node
