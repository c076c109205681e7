package faults_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
)

// TestUploadsToAFullDiskAreRefusedWhole sends files to a store whose disk is full, or
// becomes full. Earlier files are served, and the refused ones are accepted later.
func TestUploadsToAFullDiskAreRefusedWhole(t *testing.T) {
	eachDoor(t, func(t *testing.T, door trial.UploadDoor) {
		state := filepath.Join(smallDisk(t, "3m"), "state")
		u, s := newUploader(t, door, trial.Options{Set: []string{"state=" + state}}, 2000)
		if err := door.Send(t.Context(), s, u.token, u.upload(0)); err != nil {
			t.Fatal(err)
		}
		hog := filepath.Join(filepath.Dir(state), "hog")
		for n, left := range []int64{4 << 10, 40 << 10} {
			fill(t, hog)
			info, err := os.Stat(hog)
			if err == nil {
				err = os.Truncate(hog, info.Size()-left)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // commands try again
			err = door.Send(ctx, s, u.token, u.upload(n+1))
			if err != nil && ctx.Err() == nil && !strings.Contains(err.Error(), "507") {
				t.Error(err)
			}
			cancel()
			u.isWhole(s, 0, true)
			u.isWhole(s, n+1, err == nil)
			if err := os.Remove(hog); err != nil {
				t.Fatal(err)
			}
			if err := door.Send(t.Context(), s, u.token, u.upload(n+1)); err != nil {
				t.Errorf("when there is space: %v", err)
			}
			u.isWhole(s, n+1, true)
		}
		u.isSound(s)
	})
}
