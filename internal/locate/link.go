package locate

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"slices"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// followLink returns the debug file that a found file without debug information refers to
// by name and checksum, if a folder has it. Files with a build id have been looked up
// by it before. Otherwise it returns the found file, or nil if that is not usable for the
// purpose. The error is that of ctx.
func (l *Locator) followLink(ctx context.Context, f *Found, m *lookup, p Purpose, trail []Tried) (*Found, []Tried, error) {
	link := f.link()
	if link == nil {
		return f, trail, nil
	}
	base, below := path.Base(string(link.Name)), "/"+path.Dir(f.candidate.Path)+"/"
	var told []Tried
	for _, s := range l.sources {
		dir, ok := s.(folder)
		if !ok {
			continue
		}
		names := []string{below + base, "/" + base}
		from := ""
		if s == f.source {
			from = f.candidate.Path
			names = slices.Concat([]string{base, ".debug/" + base, "/usr/lib/debug" + below + base}, names)
		}
		for _, c := range dir.Named(ctx, m.Module, source.ELFDebug, from, names) {
			c.Key += fmt.Sprintf(" linked by %08x", link.CRC)
			found, tried, err := l.try(ctx, target{source: s, candidate: c}, m)
			if found != nil {
				if tried.Fault = found.checkLink(*link); tried.Fault == nil {
					tried.Chosen = true
					f.Close()
					return found, append(unchosen(trail), tried), nil
				}
				l.tier.Forget(ctx, cache.Meta, found.key) // it may be renewed
				found.Close()
			}
			told = append(told, tried)
			if err != nil {
				return f, trail, err // the caller closes f
			}
		}
	}
	if rank, _ := f.rank(p); rank == lastRank {
		f.Close()
		return nil, append(unchosen(trail), told...), nil
	}
	f.tell(told)
	return f, trail, nil
}

// unchosen returns a trail in which no file is chosen.
func unchosen(trail []Tried) []Tried {
	for i := range trail {
		trail[i].Chosen = false
	}
	return trail
}

// checkLink returns a fault if an open file is not the one of a link. The key of the
// file has the checksum of the link, so that a file that is known was checked.
func (f *Found) checkLink(link need) *fault.Error {
	if f.Features&object.HasDebug == 0 {
		return fault.New(fault.Malformed, "", "no debug information")
	}
	if f.file == nil {
		return nil
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(f.file.spool, 0, f.file.spool.Size())); err != nil {
		return fault.Of(err)
	}
	if sum.Sum32() != link.CRC {
		return fault.New(fault.Malformed, "", "%s: asked for a file with CRC %08x, the file has %08x", fault.Mismatch, link.CRC, sum.Sum32())
	}
	return nil
}
