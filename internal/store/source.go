package store

import (
	"context"
	"io"
	"slices"
	"strings"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// SourceID is the id of the store as a source.
const SourceID = "store"

// Source returns the files of uploads of these projects as a source.
func (s *Store) Source(projects []string) source.Source {
	projects = slices.Clone(projects)
	slices.Sort(projects)
	return &files{s, projects}
}

// files implements source.Source.
type files struct {
	store    *Store
	projects []string
}

func (f *files) ID() string { return SourceID }

func (f *files) Identity() string { return SourceID + ":" + strings.Join(f.projects, ",") }

// Candidates returns the files that exist, kind by kind.
func (f *files) Candidates(ctx context.Context, m ident.Module, kinds []string) (list []source.Candidate, err error) {
	found, err := f.store.Find(ctx, f.projects, Question{Module: m, Kinds: kinds})
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		for i := range found {
			one := &found[i]
			isKind := one.Object < 0 && one.Claim.Kind == kind || one.Object >= 0 && one.Record.Objects[one.Object].IsOf([]string{kind})
			key := SourceID + "\n" + one.Record.SHA256.String()
			if !isKind || slices.ContainsFunc(list, func(c source.Candidate) bool { return c.Key == key }) {
				continue
			}
			list = append(list, source.Candidate{
				Source: SourceID, Kind: kind, Location: one.Upload + "/" + one.Name, Key: key, Local: true,
				Path: Copy{one.Record.SHA256, one.Copy}.String(), Name: ident.FileName(one.Name),
			})
		}
	}
	if len(list) == 0 {
		return nil, source.ErrNothing
	}
	return list, nil
}

// Fetch writes the decoded bytes of a candidate.
func (f *files) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (a source.Attempt, err error) {
	began := f.store.deps.Now()
	stored, ok := parseCopy(c.Path)
	if !ok {
		return a, fault.New(fault.Internal, c.Location, "invalid path %.200q", c.Path)
	}
	a.URL, a.Validator = c.Location, stored.SHA256.String()
	if a.Same = c.Validator == a.Validator; a.Same {
		return a, nil
	}
	r, err := f.store.openCopy(ctx, stored)
	if err != nil {
		return a, fault.Of(err)
	}
	defer r.Close()
	_, a.Wire = r.Frames()
	a.Bytes, err = io.Copy(w, io.NewSectionReader(r, 0, r.Size()))
	a.Time = f.store.deps.Now().Sub(began)
	return a, err
}
