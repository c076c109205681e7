// Package source is where files may be: symbol servers, laid-out folders. The
// root of the family holds the contract and the path layouts as pure
// functions; its children do the fetching.
package source

import (
	"context"
	"io"
	"time"

	"symbolon/internal/ident"
)

// Candidate is one place where a file for a module might be.
type Candidate struct {
	Source   string // id of the source, for people
	Kind     string // kind of file: "breakpad"
	Location string // where, for people: never with secrets in it
	Key      string // identity for cache keys: source (endpoint, credentials id) and location
	Public   bool   // in a public source, where a miss may be remembered for longer
	Local    bool   // in a folder of this machine, where a look costs nothing: a miss is not remembered
	Path     string // how the source finds it again
}

// Attempt is what one Fetch did.
type Attempt struct {
	URL       string // the last one asked, without secrets
	Status    int    // the last HTTP status, zero where there is none
	Wire      int64  // bytes received
	Bytes     int64  // bytes after decoding
	Time      time.Duration
	Retries   int
	Redirects int
}

// Source is one place to ask. Both methods are safe for concurrent use.
//
// Candidates names the places in the order in which they should be asked; it
// does not look whether anything is there. Fetch writes the decoded bytes of a
// candidate to w; when it fails the error is a *fault.Error and w may have
// received a part.
type Source interface {
	Candidates(ctx context.Context, m ident.Module) ([]Candidate, error)
	Fetch(ctx context.Context, c Candidate, w io.Writer) (Attempt, error)
}
