package dir

import (
	"path"
	"strings"
	"time"

	"symbolon/internal/bucket"
)

// listing is the names in a folder, by their lower case, as they were when it
// had changed last.
type listing struct {
	changed time.Time
	names   map[string]string
}

// settled is how long ago a folder must have changed for its time to tell of
// the next change.
const settled = 2 * time.Second

// Spell is the key that differs from key only in the case of letters, "" if there
// is none. Of several the one that is written as it is asked for counts, segment
// by segment, then the first.
func (b *Bucket) Spell(key string) string {
	if bucket.Check(key) != nil || reserved(key) {
		return ""
	}
	d, err := b.root()
	if err != nil {
		return ""
	}
	at := ""
	for segment := range strings.SplitSeq(key, "/") {
		if _, err := d.stat(path.Join(at, segment)); err != nil {
			if segment = d.list(at)[strings.ToLower(segment)]; segment == "" {
				return ""
			}
		}
		at = path.Join(at, segment)
	}
	return at
}

// list is the names in a folder by their lower case. Those at the top are kept:
// stores have very many.
func (d *root) list(folder string) map[string]string {
	top := folder == ""
	f, err := d.open(path.Join(".", folder))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	if top {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.top.names != nil && info.ModTime().Equal(d.top.changed) {
			return d.top.names
		}
	}
	all, _ := f.Readdirnames(-1) // those that can be read
	names := make(map[string]string, len(all))
	for _, name := range all {
		low := strings.ToLower(name)
		if was, ok := names[low]; !ok || name < was {
			names[low] = name
		}
	}
	if top && time.Since(info.ModTime()) > settled {
		d.top = listing{info.ModTime(), names}
	}
	return names
}
