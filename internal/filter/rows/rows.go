// Package rows rewrites rows: one JSON value on each line, which has its answer
// when it is written again. A row is one of
//
//	a crash ping of Firefox   of desktop, of Android, of an .extra file, or of Telemetry
//	{"frames": [{"debug_file", "debug_id", "offset"}, …]}   also with module, code_id, id
//	the output of a stack walker   in the member json_dump of a processed crash of Socorro, or alone
//	a request of Mozilla's interface   of version 5 or 4, answered as by it
//	a request of Symbolicator   answered as by it
//	a string, or a line that is not JSON   text
//
// The frames of a stack walker that have no function get one. Otherwise the
// answer is the member "symbolicated" of the row, or replaces the row. It may be
// inside the row: in the payload of a ping, in a member that Options names, and
// in a string that holds JSON.
//
// The answer to a ping is the input of Mozilla's generator of signatures. Only the
// crashing thread is in it, and of a long stack the first and the last frames:
//
//	{"reason": "SIGSEGV", "crashing_thread": 0, "threads": [{"frames": [
//	  {"offset", "module", "module_offset", "function", "function_offset", "file", "line"}, {"omitted": 20}, {"error"}, …]}]}
//
// That to a list of frames has the same members, with the index of the frame
// instead of the offset. An inlined call has an entry before that of its caller.
//
// Requests are answered by the doors of these interfaces, within their limits
// (filter.Run.Answer).
//
// Rows are read until a unit of 4 MiB is complete, or no more of them have been
// received. The addresses of a unit are looked up together. All other bytes are
// copied, and rows with an answer are copied too.
//
// RewriteReport rewrites a crash report of Apple in JSON (.ips) in the same way.
package rows

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"symbolon/internal/filter"
)

// mark is the byte order mark, which some programs write before the first row.
const mark = "\ufeff"

// Options are the settings of a Filter.
type Options struct {
	Field   string // path of the member to rewrite, with dots: payload.stackTraces
	Replace bool   // the answer replaces the addresses
	// Chunks is set for the protocol of ClickHouse: a line with a number precedes so
	// many rows.
	Chunks   bool
	Document bool // the input is one row, on several lines
	Strict   bool // a row of an unknown kind has an error, instead of being copied
	OnlyRows bool // a line that is neither an object nor a string in JSON has no answer, instead of being text
	// Text rewrites text; nil copies it.
	Text func(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error
}

// Counts are the numbers of rows of an input.
type Counts struct {
	Rows   int
	Failed int // rows without an answer
}

// Is reports whether a file that begins with head has rows, by the first of them.
func Is(head []byte) bool {
	line := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
	if !IsDocument(head) {
		line, _, _ = bytes.Cut(line, []byte("\n"))
	}
	r := &reader{options: &Options{}}
	r.run = &filter.Run{}
	r.reset()
	if w := r.open(line); w.isString || w.shape == crashPing || w.shape == frameList {
		return true
	}
	r.json.Reset(line)
	m := r.readMembers(value{0, len(line)}) // as many as head has of them
	return m.isPing() || !m.symbolicated.isMissing() || !m.stackTraces.isMissing() || !m.jsonDump.isMissing() ||
		!m.crashInfo.isMissing() && !m.crashingThread.isMissing() || m.isRequest(line)
}

// isRequest reports whether an object is a request. Other documents may have jobs, too.
func (m *members) isRequest(doc []byte) bool {
	return bytes.Contains(m.jobs.of(doc), []byte(`"memoryMap"`)) || !m.memoryMap.isMissing() && !m.stacks.isMissing() ||
		!m.stacktraces.isMissing() && !m.modules.isMissing()
}

// IsDocument reports whether a file that begins with head is one row on several lines, as
// programs print JSON for people.
func IsDocument(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte(mark))
	return bytes.HasPrefix(head, []byte("{\n")) || bytes.HasPrefix(head, []byte("{\r"))
}

// Filter copies in to out and rewrites its rows.
func (o *Options) Filter(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) (Counts, error) {
	u := units.Get().(*unit)
	defer u.free()
	u.in, u.out, u.options, u.run = in, out, o, run
	var err error
	if head, _ := in.Peek(len(mark)); string(head) == mark {
		_, err = io.CopyN(out, in, int64(len(mark)))
	}
	u.isDocument = o.Document
	for err == nil {
		if o.Chunks {
			err = u.chunk(ctx)
		} else {
			err = u.rewrite(ctx, math.MaxInt)
		}
	}
	if err == io.EOF {
		err = out.Flush()
	}
	return u.counts, err
}

// chunk rewrites the rows that a line with their number precedes.
func (u *unit) chunk(ctx context.Context) error {
	header, err := u.in.ReadSlice('\n')
	if err == io.EOF && len(header) == 0 {
		return err
	}
	text := strings.TrimSpace(string(header))
	n, bad := strconv.Atoi(text)
	if bad != nil || n < 0 || err != nil && err != io.EOF {
		return fmt.Errorf("invalid header of a chunk %.64q: must be a number of rows", text)
	}
	for n > 0 {
		before := u.counts.Rows
		err := u.rewrite(ctx, n)
		if n -= u.counts.Rows - before; err == io.EOF && n > 0 {
			err = fmt.Errorf("read a chunk: %w: %d rows are missing", io.ErrUnexpectedEOF, n)
		}
		if err != nil {
			return err
		}
	}
	return u.out.Flush()
}
