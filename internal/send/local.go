package send

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

// A Local puts files into a store of this machine, as one upload. It belongs to one
// goroutine.
type Local struct {
	Done func(Outcome) // is called for each file

	store   *store.Store
	project string
	draft   *store.Draft
	isEmpty bool
}

// NewLocal returns a Local, to be closed.
func NewLocal(s *store.Store, cfg Config) *Local {
	return &Local{
		Done: func(Outcome) {}, store: s, project: cfg.Project, isEmpty: true,
		draft: s.Begin(cfg.Project, cfg.Labels, "command line"),
	}
}

// Add adds a file to the upload, unless the project has it.
func (l *Local) Add(ctx context.Context, f *File) error {
	h := sha1.New()
	if _, err := io.Copy(h, f.reader()); err != nil {
		return err
	}
	found, err := l.store.Find(ctx, []string{l.project}, store.Question{SHA1: ident.SHA1(h.Sum(nil))})
	if err != nil {
		return err
	}
	o := Outcome{File: f, State: Known}
	isCurrent := false
	if len(found) > 0 {
		isCurrent, err = l.draft.IsCurrent(ctx, &found[0])
	} else {
		o.State, o.Sent = Uploaded, f.Size()
	}
	switch {
	case err != nil || isCurrent:
	case o.State == Known:
		err = l.draft.Reuse(&found[0], f.Name())
	default:
		_, err = l.draft.Add(ctx, f.Name(), f.reader())
	}
	if _, ok := errors.AsType[*store.Refusal](err); ok {
		o, err = Outcome{File: f, State: Refused, Detail: strings.TrimPrefix(err.Error(), f.Name()+": ")}, nil
	}
	if err == nil {
		l.isEmpty = l.isEmpty && (isCurrent || o.State == Refused)
		l.Done(o)
	}
	return explained(err)
}

// explained returns the error of a store, with advice if its disk is full.
func explained(err error) error {
	if bucket.IsFull(err) {
		return fmt.Errorf("the disk of the store is full: free some space, for example by symbolon gc run, and try again: %w", err)
	}
	return err
}

// Flush makes the upload visible. It does nothing without new files.
func (l *Local) Flush(ctx context.Context) error {
	if l.isEmpty {
		return ctx.Err()
	}
	_, err := l.draft.Commit(ctx)
	return explained(err)
}

// Close removes files that were not made visible.
func (l *Local) Close() { l.draft.Close() }
