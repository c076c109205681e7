// Package sentry is the source of the debug files that users have uploaded to a
// project of Sentry.
//
// The source requests the list of the project's files for a module, once for all
// kinds of file, and then the needed files. Lists are cached for a while. The
// credentials are part of the identity of the source, so a file of one project is
// never used for another. While a list cannot be read the source has no files;
// it is requested again after a minute.
//
// A source of the web, given by Server, makes the requests. A Source is safe for concurrent use.
package sentry
