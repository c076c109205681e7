package node

import (
	"context"
	"fmt"

	"symbolon/internal/answer"
	"symbolon/internal/api/elastic"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// FileQuery is a list of addresses of an uploaded binary.
type FileQuery struct {
	FileID ident.FileID `json:"fileid"`
	Addrs  []uint64     `json:"addrs"`
}

// Frames looks addresses up in the uploads.
func (n *Node) Frames(ctx context.Context, q FileQuery) ([]answer.Answer, error) {
	frames := make([]symbolicate.Frame, len(q.Addrs))
	for i, addr := range q.Addrs {
		frames[i].Addr = addr
	}
	l, err := elastic.Look(ctx, n.engine.Run, []ident.Module{{FileID: q.FileID}}, frames)
	if err != nil {
		return nil, err
	}
	defer l.Release()
	if m := l.Missing(0); m != nil {
		return nil, fmt.Errorf("look up file %s: %w", q.FileID.Base64(), m.Fault)
	}
	out := make([]answer.Answer, len(q.Addrs))
	for i, addr := range q.Addrs {
		out[i] = answer.Answer{Addr: fmt.Sprintf("%#x", addr), Frames: []answer.Frame{}}
		found, err := l.At(i)
		if err != nil {
			return nil, err
		}
		for _, f := range found.Frames {
			text := func(t sym.Text) string {
				b, _ := found.Result.AppendRaw(nil, 0, t)
				return string(b)
			}
			x := answer.Frame{Function: text(f.Func), File: text(f.File), Line: f.Line, Inlined: f.Inlined}
			if off, ok := found.Offset(&f); ok {
				x.Offset = fmt.Sprintf("%#x", off)
			}
			out[i].Frames = append(out[i].Frames, x)
		}
	}
	return out, nil
}
