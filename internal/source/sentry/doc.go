// Package sentry is the source that is a project of Sentry: the debug files
// that its users have uploaded.
//
// A project is asked for the list of its files for a module, once for all kinds
// of file, and then for those that are wanted. Lists are kept for a while, and
// what is found in them is never said to be in another project: the credentials
// belong to the identity of the source. A list that cannot be had leaves the
// source with nothing, until it is asked for again a minute later.
//
// The requests themselves are made by a source of the web, which Server hands
// in. A Source is safe for concurrent use.
package sentry
