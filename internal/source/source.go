// Package source has the sources of files: symbol servers, buckets, folders. The
// root of the family has the contract and the path layouts as pure functions;
// its children fetch files.
package source

import (
	"context"
	"errors"
	"io"
	"time"

	"symbolon/internal/ident"
)

// Candidate is one place where a file for a module may be.
type Candidate struct {
	Source    string // id of the source, for people
	Kind      string // kind of file: "breakpad"
	Location  string // for people, without secrets
	Key       string // for cache keys: the identity of the source, and the location
	Public    bool   // in a public source, where a miss may be remembered for longer
	Local     bool   // in a folder of this machine: a miss is cheap and not remembered
	Path      string // for the Fetch of its source
	Name      string // of the file; empty: the last part of Path
	Checksum  string // of the debug file, from the request, for servers that require it
	Validator string // of the known state of the file, or empty
	Base      uint64 // image base, if the file does not have it: subtracted from its addresses
}

// Attempt describes one Fetch.
type Attempt struct {
	URL       string // of the last request, without secrets
	Status    int    // the last HTTP status, or zero
	Wire      int64  // bytes received
	Bytes     int64  // bytes after decoding
	Time      time.Duration
	Retries   int
	Redirects int
	Validator string // identifies this state of the file; empty if the source has no validators
	Same      bool   // the validator of the candidate still holds, and the file was not sent
}

// ErrNothing is the error of Candidates if the source should not be listed in
// the trail.
var ErrNothing = errors.New("the source has no place for it")

// Source is a source of files. Its methods are safe for concurrent use.
//
// Identity differs for sources that may deliver different files for one module:
// by endpoint, credentials, layout, filters. It has no secret.
//
// Candidates returns the places of files of these kinds, kind by kind, in order
// of preference. It does not check whether a file exists, unless the source has
// an index or a list. With both candidates and an error, there may be more
// candidates. Fetch writes the decoded bytes of a candidate to w; if it fails,
// the error is a *fault.Error and w may have received a part.
type Source interface {
	ID() string
	Identity() string
	Candidates(ctx context.Context, m ident.Module, kinds []string) ([]Candidate, error)
	Fetch(ctx context.Context, c Candidate, w io.Writer) (Attempt, error)
}
