// Package source is where files may be: symbol servers, laid-out folders. The
// root of the family holds the contract and the path layouts as pure
// functions; its children do the fetching.
package source

import (
	"context"
	"errors"
	"io"
	"time"

	"symbolon/internal/ident"
)

// Candidate is one place where a file for a module might be.
type Candidate struct {
	Source    string // id of the source, for people
	Kind      string // kind of file: "breakpad"
	Location  string // where, for people: never with secrets in it
	Key       string // identity for cache keys: that of the source, and the location
	Public    bool   // in a public source, where a miss may be remembered for longer
	Local     bool   // in a folder of this machine, where a look costs nothing: a miss is not remembered
	Path      string // how the source finds it again
	Checksum  string // of the debug file as the asker knows it, for servers that want to see it
	Validator string // of the file that is known already; empty: none is
	Base      uint64 // what its addresses count from, if the file does not tell it: they become relative
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
	Validator string // tells this state of the file from later ones; empty: the source has no such thing
	Same      bool   // the file is the one that the validator of the candidate came with, and was not sent again
}

// ErrNothing is what Candidates may give in place of no candidates: then nobody
// is told of the source.
var ErrNothing = errors.New("the source has no place for it")

// Source is one place to ask. Its methods are safe for concurrent use.
//
// Identity tells apart what may deliver different files for one module:
// endpoint, credentials, layout, filters. It holds no secret.
//
// Candidates names the places of files of these kinds, kind by kind, in the
// order in which they should be preferred. It does not look whether anything is
// there, unless the source knows what it has, from an index or a list. An error
// beside candidates says why there may be more of them. Fetch
// writes the decoded bytes of a candidate to w; when it fails the error is a
// *fault.Error and w may have received a part.
type Source interface {
	ID() string
	Identity() string
	Candidates(ctx context.Context, m ident.Module, kinds []string) ([]Candidate, error)
	Fetch(ctx context.Context, c Candidate, w io.Writer) (Attempt, error)
}
