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

// journalLife is how long a part counts that a server took. Servers forget the
// parts of an upload after a day in which it was not completed.
const journalLife = 24 * time.Hour

// journal is what a server has taken of one kind of one file so far: a push that
// was interrupted goes on with it. It is lost without harm.
type journal struct {
	path string // empty: it is not kept

	mu sync.Mutex
	journalText
}

// journalText is the file.
type journalText struct {
	Nonce string        `json:"nonce"` // that makes the name of the upload
	Parts int           `json:"parts"`
	Taken map[int]int64 `json:"taken"` // when, in seconds since 1970
}

// journalDir is the folder of journals, or empty if there is no place for it.
// Those that count no more are removed.
func journalDir(now time.Time) string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(base, "symbolon", "push")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	old, _ := os.ReadDir(dir) // what cannot be read is not removed
	for _, d := range old {
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() && now.Sub(st.ModTime()) > journalLife {
			_ = os.Remove(filepath.Join(dir, d.Name())) // it does not count either
		}
	}
	return dir
}

// openJournal opens the journal of what is known by these words. One that is
// damaged, too old or not wanted is begun anew.
func openJournal(dir string, parts int, now time.Time, fresh bool, words ...string) *journal {
	j := &journal{}
	if dir != "" {
		h := sha256.New()
		for _, w := range words {
			fmt.Fprintf(h, "%d %s\n", len(w), w)
		}
		j.path = filepath.Join(dir, fmt.Sprintf("%x", h.Sum(nil)))
	}
	if text, err := os.ReadFile(j.path); err == nil && !fresh && j.read(text, parts, now) {
		return j
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // which never fails
	j.journalText = journalText{Nonce: fmt.Sprintf("%x", nonce), Parts: parts, Taken: map[int]int64{}}
	return j
}

// read takes the text of a journal if it is of use.
func (j *journal) read(text []byte, parts int, now time.Time) bool {
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

// upload names the upload of what has this content.
func (j *journal) upload(content []byte) string {
	sum := sha256.Sum256(append(append([]byte(nil), content...), j.Nonce...))
	return fmt.Sprintf("%x", sum[:16])
}

func (j *journal) has(part int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.Taken[part]
	return ok
}

// add says that the server took a part.
func (j *journal) add(part int, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Taken[part] = now.Unix()
	if j.path == "" {
		return nil
	}
	return scratch.WriteFile(j.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(&j.journalText) })
}

// end removes the journal. One that stays is of what the server has.
func (j *journal) end() {
	if j.path != "" {
		_ = os.Remove(j.path)
	}
}
