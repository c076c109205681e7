package retain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/store"
)

const endless = 100 * 365 * 24 * time.Hour // of an upload that no time ends

// RuleReport has the uploads that a rule concerns.
type RuleReport struct {
	Rule    store.Rule `json:"rule"`
	Uploads int        `json:"uploads"`
	Bytes   int64      `json:"bytes"` // of their files, decoded; those of several uploads count in each
	Expired int        `json:"expired"`
	Freed   int64      `json:"expired_bytes"`
}

// limited is an upload whose rule has an end.
type limited struct {
	id, project, version string
	at                   time.Time // of the upload
	written              time.Time // its record; uses of the upload count from then on
	size                 int64
	rule                 int
	isSuperseded         bool      // the project has a newer version
	end                  time.Time // from which the rule does not keep it
}

// match finds the rule of an upload.
func (c *collection) match(u *store.Upload) error {
	i := slices.IndexFunc(c.cfg.Keep, func(r store.Rule) bool { return r.Matches(u) })
	if i < 0 {
		return nil
	}
	one := limited{id: u.ID, project: u.Project, version: u.Labels["version"], at: u.Time, written: u.Written(), rule: i}
	for k := range u.Files {
		one.size += u.Files[k].Size
	}
	r := &c.report.Rules[i]
	r.Uploads++
	r.Bytes += one.size
	if life, err := c.cfg.Keep[i].Lifetime(); err != nil || life != (store.Lifetime{}) {
		c.limited = append(c.limited, one)
		return err
	}
	return nil
}

// expire deletes the uploads that their rules do not keep and, while a limit is exceeded,
// those that would expire next. Their keys and files are removed by later runs, like
// those of any deleted upload.
func (c *collection) expire(ctx context.Context) error {
	used, err := c.readUses(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(c.limited, func(a, b limited) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.project, b.project), b.at.Compare(a.at))
	})
	versions := map[string]int{} // of a rule and project: 1 is the newest
	var kept []limited
	for i, one := range c.limited {
		if i > 0 && (one.rule != c.limited[i-1].rule || one.project != c.limited[i-1].project) {
			clear(versions)
		}
		version := cmp.Or(one.version, one.id)
		if versions[version] == 0 {
			versions[version] = len(versions) + 1
		}
		life, err := c.cfg.Keep[one.rule].Lifetime()
		if err != nil {
			return err
		}
		one.isSuperseded = versions[version] > 1
		switch {
		case life.AfterUpload > 0:
			one.end = one.at.Add(life.AfterUpload)
		case life.AfterUse > 0:
			one.end = used.last(one.id, one.written).Add(life.AfterUse)
		case versions[version] > life.Newest:
			one.end = one.at
		default:
			one.end = one.at.Add(endless)
		}
		if c.began.Before(one.end) {
			kept = append(kept, one)
			continue
		}
		if err := c.drop(ctx, &one, fmt.Sprintf("rule %d of uploads.keep, %q", one.rule+1, c.cfg.Keep[one.rule].Keep)); err != nil {
			return err
		}
	}
	return c.limit(ctx, kept)
}

// limit deletes uploads while a limit is exceeded: first those with a newer version in
// the project, then those that expire first. An upload that shares files with others
// frees less than its size; then the next run continues.
func (c *collection) limit(ctx context.Context, kept []limited) error {
	slices.SortFunc(kept, func(a, b limited) int {
		if a.isSuperseded != b.isSuperseded {
			if a.isSuperseded {
				return -1
			}
			return 1
		}
		return cmp.Or(a.end.Compare(b.end), cmp.Compare(b.id, a.id))
	})
	for i := range kept {
		if key, _ := c.cfg.Over(&c.report.Usage, kept[i].project); key != "" {
			if err := c.drop(ctx, &kept[i], "the limit "+key); err != nil {
				return err
			}
		}
	}
	if !c.dry {
		now := c.report.Usage
		now.Projects, now.Uploads = maps.Clone(now.Projects), maps.Clone(now.Uploads)
		c.deps.Store.SetUsage(&now)
	}
	return nil
}

// drop deletes an upload, unless it is protected or the run only counts.
func (c *collection) drop(ctx context.Context, one *limited, why string) error {
	if until, err := c.deps.Store.ProtectedUntil(ctx, one.id); err != nil || until.After(c.began) {
		return err
	}
	r := &c.report.Rules[one.rule]
	r.Expired++
	r.Freed += one.size
	c.report.Uploads--
	c.report.Deleted++
	c.report.Usage.Add(one.project, -one.size)
	c.report.Usage.Uploads[one.project]--
	if c.dry {
		return nil
	}
	err := c.deps.Store.Delete(ctx, one.id, "retention", why+", on "+c.began.UTC().Format(time.DateOnly))
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
