package bin

import "fmt"

// A Problem is a damaged part of a file that was skipped or truncated.
type Problem struct {
	Place  string // name of the part
	Off    int64  // of the damage: in the file, unless the place is one of a format that has other offsets
	Reason string
}

// String returns the problem as one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: at offset %#x: %s", p.Place, p.Off, p.Reason)
}

// maxProblems limits the problems that are kept.
const maxProblems = 64

// Problems are the first problems of a file.
type Problems []Problem

// Add adds a problem, unless there are too many.
func (p *Problems) Add(place string, off int64, format string, args ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, Problem{place, off, fmt.Sprintf(format, args...)})
	}
}
