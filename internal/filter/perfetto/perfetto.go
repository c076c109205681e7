// Package perfetto adds names to traces of Perfetto.
//
// Nothing in a trace is changed: packets with the names of its frames (module_symbols)
// are appended, as the tools of Perfetto do. Frames come from the interned data of heap
// profiles, samples and Chrome, and from the profile packets of Android 10; also from
// packets that are compressed with deflate, but not with zstd. The addresses are as
// linked in ELF files, and relative to the start in Chrome's modules; the unwinder has
// already decremented return addresses.
//
// Memory is bounded by the trace: its frames, up to 65,536 writers and modules with paths
// of up to 4,096 bytes, a compressed packet of up to 64 MiB, and 16 MiB and the size of the
// trace for what is kept of those. They may inflate to 16 MiB and 32 times that size.
package perfetto

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"symbolon/internal/filter"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
)

// Is reports whether the beginning of a file is a trace: packets, of which at least
// one has a time, a writer or a user.
func Is(head []byte) bool {
	isPacket := false
	r := wire.NewReader(head)
	for r.Next() {
		if r.Tag != tagPacket {
			return false
		}
		p := wire.NewReader(r.Bytes)
		for p.Next() {
			isPacket = isPacket || p.Tag == tagTimestamp || p.Tag == tagSequence || p.Tag == tagTrustedUID
		}
		if p.Err() != nil {
			return false
		}
	}
	return isPacket
}

// Rewrite writes a trace, and packets with the names of its frames.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	t := &trace{
		left: freeInflated + maxInflation*len(data), kept: freeInflated + len(data),
		sequences: map[uint64]*sequence{}, indices: map[module]int32{}, isNamed: map[address]bool{},
	}
	r := wire.NewReader(data)
	for r.Next() {
		if r.Tag == tagPacket {
			t.packet(r.Bytes)
		}
	}
	if r.Err() != nil {
		return fmt.Errorf("read trace: %w", r.Err())
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	return t.appendNames(ctx, run, out)
}

// unnamed returns the frames without names in order, or all.
func (t *trace) unnamed(all bool) (frames []address) {
	for a, isNamed := range t.isNamed {
		if all || !isNamed {
			frames = append(frames, a)
		}
	}
	slices.SortFunc(frames, func(a, b address) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.pc, b.pc))
	})
	return frames
}

// appendNames looks the frames up, and writes a packet for each module that has
// names.
func (t *trace) appendNames(ctx context.Context, run *filter.Run, out io.Writer) error {
	var query filter.Query
	frames := t.unnamed(run.Force)
	last, index, space := int32(-1), int32(-1), filter.Linked
	for _, a := range frames {
		if a.module != last {
			last, index = a.module, -1
			m := &t.modules[last]
			var id ident.Module
			id, space = m.identify()
			if complete, ok := run.Module(m.path, id); ok {
				index = query.AddModule(complete)
			}
		}
		query.Addresses = append(query.Addresses, filter.Address{Module: index, Space: space, Addr: a.pc})
	}
	if len(query.Modules) == 0 {
		return nil
	}
	answer, err := run.Look(ctx, &query)
	if err != nil {
		return err
	}
	defer answer.Release()
	var s symbols
	for i, a := range frames {
		if query.Addresses[i].Module >= 0 {
			s.add(a.pc, answer.Frames(i))
		}
		if i+1 == len(frames) || frames[i+1].module != a.module {
			if err := s.write(out, &t.modules[a.module]); err != nil {
				return err
			}
		}
	}
	return nil
}

// identify returns the identifiers of a module, and the space of its addresses.
// Chrome writes a debug id as text.
func (m *module) identify() (ident.Module, filter.Space) {
	id := ident.Module{CodeFile: m.path}
	if debugID, err := ident.ParseBreakpadID(m.buildID); err == nil && len(m.buildID) > 32 {
		id.DebugID = debugID
		return id, filter.Relative
	}
	if buildID, err := ident.ParseBuildID(string(ident.NewBuildID([]byte(m.buildID)))); err == nil {
		id.CodeID = buildID.CodeID()
	}
	return id, filter.Linked
}

// symbols are the names of a module.
type symbols struct{ addresses, msg, line []byte }

// add adds the names of an address.
func (s *symbols) add(pc uint64, levels []filter.Frame) {
	if len(levels) == 0 {
		return
	}
	s.msg = wire.AppendVarint(s.msg[:0], 1, pc)
	for i := range levels {
		f := &levels[i]
		name := f.Function
		if len(name) == 0 {
			name = f.Raw
		}
		s.line = wire.AppendBytes(s.line[:0], 1, name)
		if len(f.File) > 0 {
			s.line = wire.AppendBytes(s.line, 2, f.File)
		}
		if f.Line > 0 {
			s.line = wire.AppendVarint(s.line, 3, uint64(f.Line))
		}
		s.msg = wire.AppendBytes(s.msg, 2, s.line)
	}
	s.addresses = wire.AppendBytes(s.addresses, 3, s.msg)
}

// write writes a packet with the names of a module, if it has some.
func (s *symbols) write(out io.Writer, m *module) error {
	if len(s.addresses) == 0 {
		return nil
	}
	msg := wire.AppendBytes(wire.AppendBytes(nil, 1, m.path), 2, m.buildID)
	msg = wire.AppendBytes(nil, tagSymbols.Num(), append(msg, s.addresses...))
	s.addresses = s.addresses[:0]
	_, err := out.Write(wire.AppendBytes(nil, tagPacket.Num(), msg))
	return err
}
