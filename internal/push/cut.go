package push

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"symbolon/internal/companion"
	"symbolon/internal/extract"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
)

// image is a file that is pushed, and what is sent of it.
type image struct {
	name  string
	id    ident.FileID
	build ident.BuildID
	base  uint64
	sets  [2]*partSet // ranges, and behind them pads
}

// partSet is the ranges or the pads of a file in parts, which are one behind the
// other in a temporary file.
type partSet struct {
	kind    string // as in file names and answers
	door    string // where the server takes it
	file    *os.File
	parts   []part
	records int64
	size    int64
	content [sha256.Size]byte
}

// part is one request.
type part struct {
	off, size int64
	sum       [sha256.Size]byte
}

func (s *partSet) body(n int) *io.SectionReader {
	return io.NewSectionReader(s.file, s.parts[n].off, s.parts[n].size)
}

// sum is the content as it is told.
func (s *partSet) sum() string { return fmt.Sprintf("%x", s.content) }

func (s *partSet) pushed(known bool) *Set {
	return &Set{Content: s.sum(), Records: s.records, Parts: len(s.parts), Size: s.size, Known: known}
}

// file pushes one file. All that is made on the way is in a folder that goes.
func (c *Client) file(ctx context.Context, t target) (err error) {
	defer object.RecoverFault(&err)()
	dir, err := os.MkdirTemp("", "symbolon-push-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	code, err := companion.OpenAlone(t.name, companion.Options{})
	if err != nil {
		return err
	}
	defer code.Close()
	info := code.Object().Info()
	if info.Type == "dbg" {
		if t.named {
			err = errors.New("it has debug information and no code: name the file that runs, and this one with -d")
		}
		return err
	}
	x := &image{name: t.name, base: info.LoadAddress}
	x.build, _ = ident.ParseBuildID(info.Module.CodeID.String()) // none: it is not told
	if x.id, err = ident.NewFileID(code.Source(), code.Source().Size()); err != nil {
		return err
	}
	if first, ok := c.done[x.id]; ok {
		c.events.Result(&Result{File: t.name, Status: "same", FileID: x.id.Base64(), Detail: "the same as " + first})
		return nil
	}
	c.progress.begin(t.name)
	done, err := c.cut(ctx, x, t, code, dir)
	if err != nil || !done {
		return err
	}
	defer x.close()
	if c.cfg.Keep != "" {
		if err := x.keep(c.cfg.Keep); err != nil {
			return err
		}
	}
	r, err := c.image(ctx, x)
	if err == nil {
		c.done[x.id] = t.name
		c.events.Result(r)
	}
	return err
}

// cut extracts what is to be sent and makes parts of it. It is false if the file
// is left out.
func (c *Client) cut(ctx context.Context, x *image, t target, code *companion.File, dir string) (done bool, err error) {
	d, err := companion.Open(cmp.Or(t.debug, t.name), companion.Options{})
	if err != nil {
		return false, err
	}
	defer func() { // whichever it is then
		if err != nil {
			err = companion.Cause(err, code, d)
		}
		d.Close()
	}()
	if t.debug == "" {
		if d, err = c.fetch.complete(ctx, d, dir); err != nil {
			return false, err
		}
	}
	info := d.Object().Info()
	if err := extract.CheckBuild(code.Object().Info().Module, info.Module); err != nil {
		return false, err
	}
	if t.debugPackage != "" && info.Features&object.HasDebug == 0 {
		if !slices.Contains(c.packages, t.debugPackage) {
			c.packages = append(c.packages, t.debugPackage)
		}
		c.skip(t.name, "no debug information found for "+t.name+", skipping")
		return false, nil
	}
	padless := extract.HasPads(code.Object())
	if padless != nil && fault.KindOf(padless) != fault.Unsupported {
		return false, padless
	}
	raw, err := extractRaw(ctx, extract.Input{Debug: d.Object(), Code: code.Object(), Scratch: scratch.Dir(dir)}, dir, padless == nil)
	defer func() {
		for _, f := range raw {
			f.Close()
		}
	}()
	if err = companion.Cause(err, code, d); err != nil {
		return false, err
	}
	c.events.Damage(cmp.Or(t.debug, t.name), d.Object().Info())
	for i, s := range []*partSet{{kind: "ranges", door: "symbols-ranges"}, {kind: "returnpads", door: "symbols-returnpads"}} {
		if err := s.fill(ctx, raw[i], filepath.Join(dir, s.kind), int(min(c.cfg.PartSize, math.MaxInt32))); err != nil {
			return false, errors.Join(err, x.close())
		}
		x.sets[i] = s
	}
	if x.sets[0].records == 0 {
		c.skip(t.name, "no symbols found for "+t.name+", skipping")
		return false, x.close()
	}
	if padless != nil {
		c.events.Warn(fmt.Sprintf("%s: ranges only: %v", t.name, padless))
	}
	return true, nil
}

// extractRaw writes the ranges and the pads of a file, each as one symbfile. That of
// the pads is empty if there are none.
func extractRaw(ctx context.Context, in extract.Input, dir string, padded bool) (raw [2]*os.File, err error) {
	var w [2]*symbfile.Writer
	for i := range raw {
		if raw[i], err = os.CreateTemp(dir, "raw-*"); err != nil {
			return raw, err
		}
		w[i] = symbfile.NewWriter(raw[i])
	}
	in.Ranges, in.Workers = w[0], runtime.GOMAXPROCS(0)
	if padded {
		in.Pads = w[1]
	}
	err = extract.Extract(ctx, in)
	return raw, errors.Join(err, w[0].Close(), w[1].Close())
}

// fill makes the parts of a symbfile, in the file of this name.
func (s *partSet) fill(ctx context.Context, raw *os.File, name string, size int) (err error) {
	whole := func() io.Reader { return bufio.NewReaderSize(io.NewSectionReader(raw, 0, math.MaxInt64), 1<<16) }
	if err := extract.EachRecord(ctx, symbfile.NewReader(whole()), func(symbfile.Record) error { s.records++; return nil }); err != nil {
		return err
	}
	if s.file, err = os.Create(name); err != nil {
		return err
	}
	out := bufio.NewWriterSize(s.file, 1<<16)
	_, err = extract.Split(ctx, whole(), size, func(n int) (io.WriteCloser, error) {
		if n >= ingest.MaxParts {
			return nil, fmt.Errorf("there are more than %d parts; --part-size makes them larger", ingest.MaxParts)
		}
		return &partWriter{set: s, out: out, sum: sha256.New()}, nil
	})
	if err = errors.Join(err, out.Flush()); err != nil {
		return errors.Join(err, s.file.Close())
	}
	all := sha256.New()
	for _, p := range s.parts {
		all.Write(p.sum[:])
	}
	s.content = [sha256.Size]byte(all.Sum(nil))
	return nil
}

// partWriter adds a part to a set.
type partWriter struct {
	set  *partSet
	out  *bufio.Writer
	sum  hash.Hash
	size int64
}

func (w *partWriter) Write(b []byte) (int, error) {
	w.sum.Write(b)
	w.size += int64(len(b))
	return w.out.Write(b)
}

func (w *partWriter) Close() error {
	w.set.parts = append(w.set.parts, part{off: w.set.size, size: w.size, sum: [sha256.Size]byte(w.sum.Sum(nil))})
	w.set.size += w.size
	return nil
}

func (x *image) close() (err error) {
	for _, s := range x.sets {
		if s != nil {
			err = errors.Join(err, s.file.Close())
		}
	}
	return err
}

// keep writes the parts into a folder.
func (x *image) keep(dir string) error {
	dir = filepath.Join(dir, x.id.Base64())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range x.sets {
		for i := range s.parts {
			name := filepath.Join(dir, fmt.Sprintf("%s.%dof%d.symbfile", s.kind, i, len(s.parts)))
			err := scratch.WriteFile(name, func(w io.Writer) error {
				_, err := io.Copy(w, s.body(i))
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
