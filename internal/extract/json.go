package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"symbolon/internal/format/symbfile"
)

// A rangeLine is a range as a line of JSON.
type rangeLine struct {
	Kind     string   `json:"kind"`
	VA       string   `json:"va"`
	Length   uint64   `json:"length"`
	Func     string   `json:"func"`
	File     any      `json:"file"`
	CallFile any      `json:"callFile"`
	CallLine any      `json:"callLine"`
	Depth    uint32   `json:"depth"`
	Lines    [][2]any `json:"lines"`
}

// A padLine is a return pad as a line of JSON.
type padLine struct {
	Kind    string     `json:"kind"`
	VA      string     `json:"va"`
	Entries []padEntry `json:"entries"`
}

// A padEntry is a frame of a return pad.
type padEntry struct {
	Func string `json:"func"`
	File any    `json:"file"`
	Line any    `json:"line"`
}

// WriteJSON writes each record of a symbfile as a line of JSON.
func WriteJSON(ctx context.Context, w io.Writer, r io.Reader) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return EachRecord(ctx, symbfile.NewReader(r), func(rec symbfile.Record) error {
		if p := rec.Pad; p != nil {
			line := padLine{"returnpad", fmt.Sprintf("%#x", p.VA), []padEntry{}}
			for _, f := range p.Frames {
				line.Entries = append(line.Entries, padEntry{string(f.Func), maybeText(f.File), maybeNumber(f.Line)})
			}
			return enc.Encode(line)
		}
		x := rec.Range
		line := rangeLine{
			Kind: "range", VA: fmt.Sprintf("%#x", x.VA), Length: x.Length, Func: string(x.Func), File: maybeText(x.File),
			CallFile: maybeText(x.CallFile), CallLine: maybeNumber(x.CallLine), Depth: x.Depth, Lines: [][2]any{},
		}
		for _, l := range x.Lines {
			line.Lines = append(line.Lines, [2]any{l.Offset, l.Line})
		}
		return enc.Encode(line)
	})
}

// maybeText returns a text, or null if it is missing.
func maybeText(text []byte) any {
	if text == nil {
		return nil
	}
	return string(text)
}

// maybeNumber returns a number, or null if it is unknown.
func maybeNumber(n uint32) any {
	if n == 0 {
		return nil
	}
	return n
}
