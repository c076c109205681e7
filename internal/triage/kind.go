package triage

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/filter/auto"
	"symbolon/internal/inspect"
	"symbolon/internal/object"
)

// The kinds of input for which the filter has no format.
const (
	CrashFile = "crash"
	DebugFile = "debug file"
)

// Kind returns the kind of an input by its beginning: CrashFile, DebugFile, or the name of
// a format of the filter. Pasted text is never a debug file.
func Kind(head []byte, isFile bool) (string, error) {
	switch {
	case crash.IsDump(head):
		return CrashFile, nil
	case isFile && debugfile.Knows(head):
		return DebugFile, nil
	}
	format, err := auto.FormatOf(head)
	switch {
	case err == nil && format == "apple":
		return CrashFile, nil
	case err == nil && format == "text" && isFile && bytes.IndexByte(head, 0) >= 0:
		return "", fault.New(fault.Unsupported, "", "neither a text nor a profile, a dump or a debug file: the file begins with %q", head[:min(len(head), 8)])
	}
	return format, err
}

// IsText reports whether people read a format.
func IsText(format string) bool {
	return format == "text" || format == "perf" || format == "rows" || format == "sample"
}

// Describe describes the objects of a debug file, as data and as the command inspect prints
// them. Objects beyond MaxStacks bytes of text are left out. space is for unpacked parts.
func Describe(ctx context.Context, src bin.Source, space bin.Space) (objects []*inspect.Description, text string, isCut bool, err error) {
	defer object.RecoverFault(&err)()
	f, err := debugfile.Open(src, object.Options{Space: space})
	if err != nil {
		return nil, "", false, err
	}
	out := Cutter{Most: MaxStacks}
	for _, o := range f.Objects() {
		x, err := inspect.Object(ctx, o)
		if err != nil {
			return nil, "", false, err
		}
		objects = append(objects, x)
		if x.WriteText(&out); out.IsCut {
			break
		}
		_, _ = out.Write([]byte("\n")) // the next Write fails
	}
	return objects, strings.TrimSpace(out.String()), out.IsCut, nil
}

// ErrCut ends the work on a text whose beginning is enough.
var ErrCut = errors.New("the text is cut")

// A Cutter keeps the beginning of a text.
type Cutter struct {
	Most  int // bytes
	text  bytes.Buffer
	IsCut bool
}

func (c *Cutter) Write(p []byte) (int, error) {
	room := min(c.Most-c.text.Len(), len(p))
	c.text.Write(p[:room])
	if room < len(p) {
		c.IsCut = true
		return room, ErrCut
	}
	return room, nil
}

// String returns the beginning as printable text.
func (c *Cutter) String() string {
	text := strings.ReplaceAll(c.text.String(), "\r\n", "\n")
	return console.Printable(strings.ToValidUTF8(text, "\ufffd"))
}
