package push

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"symbolon/internal/scratch"
)

// journalLife is the lifetime of an entry. Servers drop an upload that is not
// complete after a day.
const journalLife = 24 * time.Hour

// journal records the parts of one set that a server took, so that an interrupted
// push continues. Without a journal all parts are sent again.
type journal struct {
	path string // empty: not stored

	mu sync.Mutex
	journalText
}

// journalText is the content of the file.
type journalText struct {
	Nonce string        `json:"nonce"` // part of the name of the upload
	Parts int           `json:"parts"`
	Taken map[int]int64 `json:"taken"` // Unix times
}

// openJournals returns the folder of journals, or an empty name if it cannot be
// created. It removes expired journals.
func openJournals(now time.Time) string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(base, "symbolon", "push")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	old, _ := os.ReadDir(dir)
	for _, d := range old {
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() && now.Sub(st.ModTime()) > journalLife {
			_ = os.Remove(filepath.Join(dir, d.Name())) // readers check the lifetime too
		}
	}
	return dir
}

// openJournal opens the journal of an upload, which the key identifies. It starts an
// empty one if isFresh is set, or if the journal is damaged or expired.
func openJournal(dir string, parts int, now time.Time, isFresh bool, key ...string) *journal {
	j := &journal{}
	if dir != "" {
		h := sha256.New()
		for _, k := range key {
			fmt.Fprintf(h, "%d %s\n", len(k), k)
		}
		j.path = filepath.Join(dir, fmt.Sprintf("%x", h.Sum(nil)))
	}
	if text, err := os.ReadFile(j.path); err == nil && !isFresh && j.parse(text, parts, now) {
		return j
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	j.journalText = journalText{Nonce: fmt.Sprintf("%x", nonce), Parts: parts, Taken: map[int]int64{}}
	return j
}

// parse parses the text of a journal. It reports whether the journal has entries for
// this number of parts.
func (j *journal) parse(text []byte, parts int, now time.Time) bool {
	if json.Unmarshal(text, &j.journalText) != nil || j.Parts != parts || len(j.Nonce) != 32 {
		return false
	}
	for n, at := range j.Taken {
		age := now.Sub(time.Unix(at, 0))
		if n < 0 || n >= parts {
			return false
		}
		if age < 0 || age > journalLife {
			delete(j.Taken, n)
		}
	}
	return len(j.Taken) > 0
}

// upload returns the name of the upload of a content.
func (j *journal) upload(content []byte) string {
	sum := sha256.Sum256(append(append([]byte(nil), content...), j.Nonce...))
	return fmt.Sprintf("%x", sum[:16])
}

// has reports whether the server took a part.
func (j *journal) has(part int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.Taken[part]
	return ok
}

// add records a part that the server took.
func (j *journal) add(part int, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Taken[part] = now.Unix()
	if j.path == "" {
		return nil
	}
	return scratch.WriteFile(j.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(&j.journalText) })
}

// remove removes the journal of a complete upload.
func (j *journal) remove() {
	if j.path != "" {
		_ = os.Remove(j.path)
	}
}
