package dir

import (
	"path"
	"strings"
	"time"

	"symbolon/internal/bucket"
)

// listing is the names in a folder, by their lower case, after its last change.
type listing struct {
	changed time.Time
	names   map[string]string
}

// settled is the age of a change from which on the next one has another time.
const settled = 2 * time.Second

// Spell returns the key that differs from key only in the case of letters, "" if it
// does not exist. Of several it prefers the same spelling, segment by segment, then
// the first.
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

// list returns the names in a folder by their lower case. Those at the top are
// kept in memory: stores have very many.
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
	all, _ := f.Readdirnames(-1) // without those that cannot be read
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
