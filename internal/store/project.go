package store

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"symbolon/internal/bucket/numbered"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// settings are a version of the settings of a project.
type settings struct {
	Public bool `json:"public"`
}

// projects are the settings of projects. Its maps do not change.
type projects struct {
	versions map[string]int
	public   map[string]bool
}

func (s *Store) versions(project string) numbered.Versions {
	return numbered.Versions{Bucket: s.deps.Bucket, Prefix: "project/" + project}
}

// Projects returns all projects, and whether they are public. Changes of other processes
// count after five seconds at the latest.
func (s *Store) Projects(ctx context.Context) (map[string]bool, error) {
	now, err := s.projects.Get(ctx)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(now.public)
	if now.versions[ident.DefaultProject] == 0 {
		all[ident.DefaultProject] = s.deps.IsOpen == nil || s.deps.IsOpen(ctx)
	}
	return all, nil
}

// readProjects reads the settings that have changed.
func (s *Store) readProjects(ctx context.Context, was projects) (now projects, err error) {
	now.versions, now.public = map[string]int{}, map[string]bool{}
	for key, err := range s.keys(ctx, "project/") {
		if err != nil {
			return now, err
		}
		name, number, _ := strings.Cut(strings.TrimPrefix(key, "project/"), "/")
		if n, err := strconv.Atoi(number); err == nil && ident.CheckProject(name) == nil {
			now.versions[name] = max(now.versions[name], n)
		}
	}
	for name, n := range now.versions {
		if was.versions[name] == n {
			now.public[name] = was.public[name]
			continue
		}
		text, _, err := s.versions(name).Read(ctx, n)
		if err != nil {
			return now, err
		}
		var last settings
		if err := json.Unmarshal(text, &last); err != nil {
			return now, fault.New(fault.Malformed, s.versions(name).Key(n), "%w", err)
		}
		now.public[name] = last.Public
	}
	return now, nil
}

// EnsureProject creates a private project unless it exists.
func (s *Store) EnsureProject(ctx context.Context, name string) error {
	if err := ident.CheckProject(name); err != nil || name == ident.DefaultProject {
		return err
	}
	all, err := s.Projects(ctx)
	if _, exists := all[name]; err != nil || exists {
		return err
	}
	if _, err := s.versions(name).Create(ctx, 1, encode(settings{})); err != nil { // or another process was first
		return err
	}
	s.projects.Expire()
	return nil
}

// SetProject makes a project public or private. It creates it if necessary.
func (s *Store) SetProject(ctx context.Context, name string, isPublic bool) error {
	if err := ident.CheckProject(name); err != nil {
		return err
	}
	_, err := s.versions(name).Change(ctx, 0, func([]byte) ([]byte, error) { return encode(settings{isPublic}), nil })
	s.projects.Expire()
	return err
}
