package extract

import (
	"bytes"

	"symbolon/internal/format/disas"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
)

// goexit is the function to whose second instruction all goroutines of Go
// return, although nothing was called there.
var goexit = []byte("runtime.goexit")

// padder writes the return pads of trees.
type padder struct {
	code   *object.Object
	info   object.Info // of code
	sets   sets
	base   uint64 // difference between file addresses and those of trees
	w      *symbfile.Writer
	names  *texts
	seen   bool // a function has code
	bytes  []byte
	starts []uint32
	calls  []disas.Call
	around []int32 // the records that contain a call, by depth
	pad    symbfile.Pad
}

// tree writes the pads of the calls in a part of a function.
func (p *padder) tree(t *tree) (err error) {
	root := &t.records[0]
	at := p.base + root.start - p.info.LoadAddress
	if p.bytes, err = p.code.AppendCode(p.bytes[:0], at, root.end-root.start); err != nil || len(p.bytes) == 0 {
		return err
	}
	p.seen = true
	if root.begins && bytes.Equal(bytes.TrimSuffix(p.names.text(root.name), []byte(".abi0")), goexit) {
		arch, _ := p.sets.at(at, betweenWords(t.starts))
		if err := p.exit(t, arch); err != nil {
			return err
		}
	}
	p.find(t, at)
	next := 0
	p.around = p.around[:0]
	for _, c := range p.calls {
		at := root.start + uint64(c.At)
		for ; next < len(t.records) && t.records[next].start <= at; next++ {
			p.around = append(p.around[:t.records[next].depth], int32(next))
		}
		for n := len(p.around); n > 0 && t.records[p.around[n-1]].end <= at; n-- {
			p.around = p.around[:n-1]
		}
		if err := p.write(t, at, at+uint64(c.Len)-1); err != nil {
			return err
		}
	}
	return nil
}

// find finds the calls in a part of a function that begins at address at of the
// module.
func (p *padder) find(t *tree, at uint64) {
	p.calls = p.calls[:0]
	starts, start, thumb := t.starts, t.records[0].start, betweenWords(t.starts)
	for from, size := uint64(0), uint64(len(p.bytes)); from < size; {
		arch, n := p.sets.at(at+from, thumb)
		end := from + min(n, size-from)
		p.starts = p.starts[:0]
		for ; len(starts) > 0 && starts[0]-start < end; starts = starts[1:] {
			p.starts = append(p.starts, uint32(starts[0]-start-from))
		}
		known := len(p.calls)
		p.calls = disas.Calls(p.calls, arch, p.bytes[from:end], p.starts)
		for i := known; i < len(p.calls); i++ {
			p.calls[i].At += uint32(from)
		}
		from = end
	}
}

// exit writes the additional pad of goexit.
func (p *padder) exit(t *tree, arch disas.Arch) error {
	n, _ := disas.Length(arch, p.bytes)
	if n == 0 {
		return nil
	}
	root := &t.records[0]
	p.pad.VA = p.base + root.start + uint64(n) - 1
	p.pad.Frames = append(p.pad.Frames[:0], symbfile.PadFrame{
		Func: p.names.text(root.name), File: p.names.text(root.file), Line: t.lineAt(root, root.start),
	})
	return p.w.Pad(&p.pad)
}

// write writes the pad of the call from address at to last.
func (p *padder) write(t *tree, at, last uint64) error {
	if len(p.around) == 0 {
		return nil
	}
	p.pad.VA, p.pad.Frames = p.base+last, p.pad.Frames[:0]
	for i, number := range p.around {
		r := &t.records[number]
		f := symbfile.PadFrame{Func: p.names.text(r.name)}
		if i+1 < len(p.around) {
			inner := &t.records[p.around[i+1]]
			f.File, f.Line = p.names.text(inner.callFile), inner.callLine
		} else {
			f.File, f.Line = p.names.text(r.file), t.lineAt(r, at)
		}
		p.pad.Frames = append(p.pad.Frames, f)
	}
	return p.w.Pad(&p.pad)
}
