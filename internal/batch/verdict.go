package batch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"symbolon/internal/console"
	"symbolon/internal/fault"
)

// Codes of the exit of a process, for schedulers.
const (
	codeRows      = 1  // done, with too many failed rows
	codePermanent = 2  // the same run fails again
	codeTemporary = 75 // the same run may succeed
)

var errRows = errors.New("too many rows have no answer")

// ParsePercent parses a percentage, such as 2.5%.
func ParsePercent(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, fmt.Errorf("invalid percentage %q: must be between 0%% and 100%%", text)
	}
	return v, nil
}

// Verdict returns an error if more than a percentage of the rows failed, or if modules
// were missing because sources did not answer.
func (r *Result) Verdict(percentage float64) error {
	switch n := r.Unreachable(); {
	case r.Counts.Missing[unknown] > 0:
		return fault.New(fault.Transport, "", "a run with other symbols stored %s and was killed; run the same command again", console.Count(r.Counts.Missing[unknown], "unit"))
	case n > 0:
		return fault.New(fault.Transport, "", "sources did not answer for %s; run the same command again", console.Count(n, "module"))
	case float64(r.Failed) > float64(r.Rows)*percentage/100:
		return fmt.Errorf("%w: %s of %d", errRows, console.Count(r.Failed, "row"), r.Rows)
	}
	return nil
}

// Code returns the code of the exit for an error of Run or Verdict.
func Code(err error) int {
	switch {
	case errors.Is(err, errRows):
		return codeRows
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EROFS):
		return codePermanent
	}
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Denied, fault.Malformed, fault.Unsupported:
		return codePermanent
	}
	return codeTemporary
}

// Report prints the counts, and the modules that were missing in this run.
func (r *Result) Report(w io.Writer) {
	if r.Units > 0 {
		console.Printf(w, "symbolon: %s in %s, %d without an answer; %d of %d addresses have names\n", console.Count(r.Rows, "row"),
			console.Count(r.Units, "unit"), r.Failed, r.Named, r.Addresses)
	}
	r.Missing.Report(w)
}
