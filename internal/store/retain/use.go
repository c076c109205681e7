package retain

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// The key used/PROCESS/DAY has a JSON object: by id of an upload, the day on which its
// files were last found. The key used/since/DAY has the day since which uses are counted.
const sinceFolder = "used/since/"

// uses are the days of last use of uploads.
type uses struct {
	since time.Time
	days  map[string]string
}

// last returns the time from which an upload counts as unused.
func (u *uses) last(id string, at time.Time) time.Time {
	if at.Before(u.since) {
		at = u.since
	}
	if t, err := time.Parse(time.DateOnly, u.days[id]); err == nil {
		if t = t.Add(grace); at.Before(t) { // the end of the day
			at = t
		}
	}
	return at
}

// readUses merges the days of all processes. Blobs of processes that do not write them
// any more become one.
func (c *collection) readUses(ctx context.Context) (*uses, error) {
	u := &uses{since: c.began, days: map[string]string{}}
	today := c.began.UTC().Format(time.DateOnly)
	yesterday := c.began.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	var old []string
	isKnown := false
	var mu sync.Mutex
	merged := map[string]string{}
	err := c.each(ctx, "used/", func(key string) error {
		day := key[strings.LastIndexByte(key, '/')+1:]
		if strings.HasPrefix(key, sinceFolder) {
			mu.Lock()
			defer mu.Unlock()
			if t, err := time.Parse(time.DateOnly, day); err == nil && (!isKnown || t.Before(u.since)) {
				u.since, isKnown = t, true
			}
			return nil
		}
		text, err := bucket.Read(ctx, c.deps.Bucket, key, 0, -1)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		var days map[string]string
		if err == nil && json.Unmarshal(text, &days) != nil {
			c.deps.Log.Warn("cannot read the times of last use", "key", key)
		}
		mu.Lock()
		defer mu.Unlock()
		later(u.days, days)
		if day < yesterday {
			old = append(old, key)
			later(merged, days)
		}
		return err
	})
	if err != nil || c.dry {
		return u, err
	}
	if !isKnown && c.report.Uploads > 0 {
		if err := c.putJSON(ctx, sinceFolder+today, today); err != nil {
			return nil, err
		}
	}
	return u, c.merge(ctx, old, merged)
}

// merge replaces blobs by one with the uploads that are not deleted.
func (c *collection) merge(ctx context.Context, old []string, merged map[string]string) error {
	if len(old) < 2 {
		return nil
	}
	maps.DeleteFunc(merged, func(id, _ string) bool { return !c.uploads.has(id) })
	// The day of the key is one that no process writes any more.
	key := "used/" + strings.ToLower(rand.Text()) + old[0][strings.LastIndexByte(old[0], '/'):]
	if err := c.putJSON(ctx, key, merged); err != nil {
		return err
	}
	return bucket.Each(len(old), func(i int) error { return c.deps.Bucket.Delete(ctx, old[i]) })
}

// later sets the days that are later than known ones.
func later(days, more map[string]string) {
	for id, day := range more {
		days[id] = max(days[id], day)
	}
}

// A ledger has the uploads that were used on a day, of this process.
type ledger struct {
	process string
	day     string
	ids     map[string]string
	isNew   bool // something is not written yet
}

// writeUses writes the uses since the last call. Those that cannot be written are kept.
func (k *Keeper) writeUses(ctx context.Context, l *ledger) {
	used := k.deps.Store.Used()
	if today := k.deps.Now().UTC().Format(time.DateOnly); l.day != today {
		if !l.isNew {
			l.ids = map[string]string{}
		}
		l.day = today
	}
	for id := range used {
		l.isNew = l.isNew || l.ids[id] != l.day
		l.ids[id] = l.day
	}
	if !l.isNew {
		return
	}
	if err := k.putJSON(ctx, "used/"+l.process+"/"+l.day, l.ids); err != nil {
		k.deps.Log.Warn("cannot write the times of last use; they are kept in memory", "error", err)
		return
	}
	l.isNew = false
}

// putJSON replaces a blob.
func (k *Keeper) putJSON(ctx context.Context, key string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = k.deps.Bucket.Put(ctx, key, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))})
	}
	return err
}
