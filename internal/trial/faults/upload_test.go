package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/ident"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// uploader uploads files through an interface, with a token for everything.
type uploader struct {
	*testing.T
	door  trial.UploadDoor
	token string
	funcs int // in each file
}

// newUploader starts a server, and returns an uploader with a token of it.
func newUploader(t *testing.T, door trial.UploadDoor, options trial.Options, funcs int) (*uploader, *trial.Server) {
	t.Helper()
	s := trial.Start(t, options)
	out, errs, code := s.Run("token", "add", "--data", s.Data, "--right", "admin", "--project", "*")
	if code != 0 {
		t.Fatal(errs)
	}
	return &uploader{t, door, strings.TrimSpace(out), funcs}, s
}

// upload returns the files of upload n: two that no other upload has, or a program for
// profilers.
func (u *uploader) upload(n int) []trial.Part {
	u.Helper()
	if u.door.IsForProfilers {
		program, err := os.ReadFile("../../object/testdata/corpus/embed-source")
		if err != nil {
			u.Fatal(err)
		}
		return []trial.Part{{Name: "tile/0/tile", Content: append(program, make([]byte, 8*(n+1))...)}}
	}
	var parts []trial.Part
	for i := range 2 {
		sym := trial.NewSym(2*n+i, u.funcs)
		parts = append(parts, trial.Part{Name: strings.TrimPrefix(sym.Path(), "/"), Content: sym.Bytes()})
	}
	return parts
}

// found returns how many files of an upload a server has. Each of them is whole.
func (u *uploader) found(s *trial.Server, parts []trial.Part) (n int) {
	u.Helper()
	for _, p := range parts {
		path, want := "/"+p.Name, string(p.Content)
		if u.door.Project == "default-try" {
			path = "/try" + path
		}
		if u.door.IsForProfilers {
			id, err := ident.NewFileID(bytes.NewReader(p.Content), int64(len(p.Content)))
			if err != nil {
				u.Fatal(err)
			}
			path, want = "/api/symbols/"+id.Base64()+"?addr=0x2011e0", `"function":"fire"`
		}
		status, answer, err := s.Do(trial.Request{Token: u.token, Method: http.MethodGet, Path: path})
		switch {
		case err == nil && status == http.StatusOK && (answer == want || u.door.IsForProfilers && strings.Contains(answer, want)):
			n++
		case err != nil || status != http.StatusNotFound && !u.door.IsForProfilers || status >= 500:
			u.Errorf("%s: %d %.100s, %v", p.Name, status, answer, err)
		}
	}
	return n
}

// isWhole checks that a server has all files of an accepted upload, and either all or
// none of another one, except for those whose files are uploads of their own.
func (u *uploader) isWhole(s *trial.Server, n int, accepted bool) {
	u.Helper()
	parts := u.upload(n)
	found := u.found(s, parts)
	if accepted && found < len(parts) {
		u.Errorf("%d of %d files of the accepted upload %d are found", found, len(parts), n)
	}
	if found%len(parts) != 0 && u.door.Name != "Tecken v2" {
		u.Errorf("a half of upload %d is found", n)
	}
}

// isSound runs store check.
func (u *uploader) isSound(s *trial.Server) {
	u.Helper()
	if out, errs, code := s.Run("store", "check", "--data", s.Data); code != 0 {
		u.Errorf("store check: exit code %d\n%s%s", code, out, errs)
	}
}

// eachDoor runs a test for each interface for uploads.
func eachDoor(t *testing.T, test func(t *testing.T, door trial.UploadDoor)) {
	for _, door := range trial.UploadDoors("default") {
		t.Run(door.Name, func(t *testing.T) {
			t.Parallel()
			test(t, door)
		})
	}
}

// TestKilledServerHasWholeUploads kills a server at random moments of uploads, and
// starts it again.
func TestKilledServerHasWholeUploads(t *testing.T) {
	eachDoor(t, func(t *testing.T, door trial.UploadDoor) {
		u, s := newUploader(t, door, trial.Options{}, 4000)
		begin := time.Now()
		if err := door.Send(t.Context(), s, u.token, u.upload(0)); err != nil {
			t.Fatal(err)
		}
		took, accepted := time.Since(begin), map[int]bool{0: true}
		for n := 1; n <= 3; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(rand.N(took), func() {
				s.Kill()
				cancel()
			})
			accepted[n] = door.Send(ctx, s, u.token, u.upload(n)) == nil
			<-ctx.Done()
			s.Restart()
			for n, isAccepted := range accepted {
				u.isWhole(s, n, isAccepted)
			}
			if err := door.Send(t.Context(), s, u.token, u.upload(n)); err != nil {
				t.Errorf("after a restart: %v", err)
			}
			accepted[n] = true
			u.isWhole(s, n, true)
		}
		u.isSound(s)
	})
}

// deleteAll deletes the uploaded files of the project.
func (u *uploader) deleteAll(s *trial.Server) {
	u.Helper()
	path := "/api/0/projects/acme/" + u.door.Project + "/files/dsyms/"
	for {
		var list []struct{ ID string }
		_, answer, err := s.Do(trial.Request{Token: u.token, Method: http.MethodGet, Path: path})
		if err == nil {
			err = json.Unmarshal([]byte(answer), &list)
		}
		if err != nil {
			u.Fatal(err, answer)
		}
		if len(list) == 0 {
			return
		}
		status, answer, err := s.Do(trial.Request{Token: u.token, Method: http.MethodDelete, Path: path + "?id=" + list[0].ID})
		if status != http.StatusNoContent {
			u.Fatal(status, answer, err)
		}
	}
}

// sendToBoth sends the same files to two nodes at once, and returns the errors.
func (u *uploader) sendToBoth(a, b *trial.Server, parts []trial.Part) (errs [2]error) {
	var both sync.WaitGroup
	for i, s := range []*trial.Server{a, b} {
		both.Go(func() { errs[i] = u.door.Send(u.Context(), s, u.token, parts) })
	}
	both.Wait()
	return errs
}

// TestTwoNodesGetTheSameFilesBesideCollections sends the same files to two nodes with one
// store, deletes them and sends them again, while collections run at one of the nodes.
func TestTwoNodesGetTheSameFilesBesideCollections(t *testing.T) {
	eachDoor(t, func(t *testing.T, door trial.UploadDoor) {
		options := trial.Options{Set: []string{"state=" + t.TempDir()}}
		u, a := newUploader(t, door, options, 1000)
		b := trial.Start(t, options)
		parts := u.upload(0)
		var running atomic.Bool
		running.Store(true)
		var collector sync.WaitGroup
		collector.Go(func() {
			for running.Load() {
				if out, errs, code := a.Run("gc", "run", "--data", a.Data); code != 0 {
					t.Errorf("gc run: exit code %d\n%s%s", code, out, errs)
				}
			}
		})
		for range 3 {
			for i, err := range u.sendToBoth(a, b, parts) {
				if err != nil {
					t.Errorf("node %d: %v", i, err)
				}
			}
			u.isWhole(a, 0, true)
			u.isWhole(b, 0, true)
			if !door.IsForProfilers { // symbfiles are not deleted
				u.deleteAll(a)
				if n := u.found(a, parts); n != 0 {
					t.Errorf("%d deleted files are found", n)
				}
				waittest.Until(t, "the other node finds no deleted file", func() bool { return u.found(b, parts) == 0 })
			}
		}
		running.Store(false)
		collector.Wait()
		u.isSound(a)
	})
}
