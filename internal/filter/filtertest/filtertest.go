// Package filtertest has names and messages for the tests of formats.
package filtertest

import (
	"context"
	"errors"

	"symbolon/internal/filter"
	"symbolon/internal/filter/wire"
)

// Names are names by the code id (or else the debug id, file name) of a module and
// the address that is looked up, which is one less for a return address. Functions
// begin at 0: the addresses from a symbol are those of the outermost frame's function.
type Names map[string]map[uint64][]filter.Frame

// Look implements filter.Names.
func (n Names) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	return &answer{n, q}, ctx.Err()
}

type answer struct {
	names Names
	q     *filter.Query
}

func (a *answer) module(m int32) (map[uint64][]filter.Frame, bool) {
	x := a.q.Modules[m]
	for _, key := range []string{x.CodeID.String(), x.DebugID.Breakpad(), x.CodeFile, x.DebugFile} {
		if list, ok := a.names[key]; key != "" && ok {
			return list, true
		}
	}
	return nil, false
}

func (a *answer) Missing(m int32) error {
	if _, ok := a.module(m); !ok {
		return errors.New("no source has the file")
	}
	return nil
}

func (a *answer) Frames(i int) []filter.Frame {
	x := a.q.Addresses[i]
	if x.Module < 0 {
		return nil
	}
	list, _ := a.module(x.Module)
	name := ""
	if x.Space == filter.Named || x.Space == filter.Mapped {
		s := &a.q.Symbols[x.Addr]
		name, x.Addr = s.Name, s.Offset
	}
	if x.IsReturn {
		x.Addr--
	}
	frames := list[x.Addr]
	if n := len(frames); name != "" && (n == 0 || string(frames[n-1].Function) != name) {
		return nil
	}
	return frames
}

func (a *answer) Release() {}

// Message returns a message of protocol buffers: of pairs of the number of a field and
// its content, a number or a text.
func Message(fields ...any) (msg []byte) {
	for i := 0; i < len(fields); i += 2 {
		num := fields[i].(int)
		switch v := fields[i+1].(type) {
		case int:
			msg = wire.AppendVarint(msg, num, uint64(v))
		case uint64:
			msg = wire.AppendVarint(msg, num, v)
		case string:
			msg = wire.AppendBytes(msg, num, v)
		case []byte:
			msg = wire.AppendBytes(msg, num, v)
		}
	}
	return msg
}
