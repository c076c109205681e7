// Package auto adds names to a file of any format.
//
// The beginning of the input determines its compression and its format. Text of no other
// format is a log. Streams are rewritten as they arrive; a document that must be complete
// is first stored in a file, which is mapped. The output is compressed like the input.
package auto

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/companion"
	"symbolon/internal/filter"
	"symbolon/internal/filter/apple"
	"symbolon/internal/filter/firefox"
	"symbolon/internal/filter/otlp"
	"symbolon/internal/filter/perf"
	"symbolon/internal/filter/perfetto"
	"symbolon/internal/filter/pprof"
	"symbolon/internal/filter/rows"
	"symbolon/internal/filter/trace"
)

// headSize is the number of bytes that the format is found in.
const headSize = 64 << 10

// A format has either Filter or Rewrite.
type format struct {
	name    string
	is      func(head []byte) bool
	filter  func(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error
	rewrite func(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error
}

// Names returns the names of all formats.
func Names() []string {
	list := []string{"auto"}
	for _, f := range new(Options).formats() {
		list = append(list, f.name)
	}
	return list
}

// packing is a compression.
type packing struct {
	name  string
	magic string
	open  func(io.Reader) (io.ReadCloser, error)
	write func(io.Writer) (io.WriteCloser, error)
}

var packings = []packing{
	{"gzip", "\x1f\x8b\x08", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
		func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
}

// wrap adds the compression to the error of a file that ends early.
func (p *packing) wrap(err error) error {
	if p == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%s file is cut off: %w", p.name, err)
}

// refused are the beginnings of files that other tools must convert first.
var refused = []struct{ magic, advice string }{
	{"PERFILE2", "a perf.data file cannot be rewritten; run: perf script -i FILE | symbolon filter"},
	{"PAR1", "a Parquet file cannot be rewritten; convert it to lines of JSON first, as with DuckDB: COPY (FROM 'FILE') TO 'rows.ndjson'"},
	{"\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", gperftools}, // the words 0, 3, 0
	{"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00", gperftools},
	{"\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00", gperftools},
	{"\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00", gperftools},
	{"heap profile: ", "a heap profile of gperftools cannot be rewritten; convert it first: go tool pprof -proto -symbolize=none -output=FILE.pb.gz FILE"},
	{"heap_v2/", "a heap profile of jemalloc cannot be rewritten; run: jeprof --text PROGRAM FILE, which uses the first addr2line in PATH"},
	{"MDMP", "a minidump cannot be rewritten; run: symbolon crash FILE"},
	{"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00", "a core file cannot be rewritten; run: symbolon crash FILE"}, // 64 bits
	{"SIMPLEPERF", "a file of simpleperf cannot be rewritten; convert it first, with gecko_profile_generator.py or pprof_proto_generator.py"},
}

// errUTF16 is the error of texts in UTF-16.
var errUTF16 = errors.New("a text in UTF-16 cannot be rewritten; convert it first: iconv -f UTF-16 -t UTF-8 FILE | symbolon filter")

// isUTF16 reports whether a file begins with the mark of UTF-16 and an ASCII character.
func isUTF16(head []byte) bool {
	return len(head) >= 4 && (string(head[:2]) == "\xff\xfe" && head[2] != 0 && head[3] == 0 ||
		string(head[:3]) == "\xfe\xff\x00" && head[3] != 0)
}

const gperftools = "a CPU profile of gperftools cannot be rewritten; convert it first: go tool pprof -proto -symbolize=none -output=FILE.pb.gz FILE"

// Input is a file, or the standard input.
type Input struct {
	Name  string // "-" is Stdin
	Stdin io.Reader
	Data  bin.Source  // the content, which is not compressed, instead of a file
	Count func(n int) // is called with the numbers of bytes that are read from a stream; may be nil
}

// FormatOf returns the name of the format that a content has by its beginning. Other
// content is "text".
func FormatOf(head []byte) (string, error) {
	f, err := (&Options{Format: "auto"}).formatOf(head)
	if err != nil {
		return "", err
	}
	return f.name, nil
}

// Filter copies the input to out with names. After an error the output is not
// complete.
func Filter(ctx context.Context, run *filter.Run, opt Options, in Input, out io.Writer) error {
	from := in.Stdin
	switch {
	case in.Data != nil:
		from = io.NewSectionReader(in.Data, 0, in.Data.Size())
	case in.Name != "-":
		f, err := openFile(ctx, in.Name)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	if in.Data == nil && !isRegular(from) {
		from = &stoppable{ctx: ctx, r: from}
		in.Name = "-" // a pipe cannot be read again
	}
	raw := bufio.NewReaderSize(counter{ctx, from, in.Count}, headSize)
	p := packingOf(raw)
	head, err := headOf(raw, p)
	if err != nil {
		return p.wrap(err)
	}
	f, err := opt.formatOf(head)
	if err != nil {
		return err
	}
	if f.rewrite != nil {
		if in.Name == "-" {
			in.Stdin = raw
		}
		return opt.pack(p, out, func(w io.Writer) error { return opt.rewrite(ctx, run, f, in, w) })
	}
	r, err := Unpack(raw)
	if err != nil {
		return p.wrap(err)
	}
	defer r.Close()
	unpacked := raw
	if p != nil {
		unpacked = bufio.NewReaderSize(r, headSize)
	}
	return opt.pack(p, out, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, headSize)
		err := f.filter(ctx, run, unpacked, buffered)
		return errors.Join(p.wrap(err), buffered.Flush())
	})
}

// counter reads until a context ends, and counts.
type counter struct {
	ctx   context.Context
	r     io.Reader
	count func(n int)
}

func (c counter) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if c.count != nil {
		c.count(n)
	}
	return n, err
}

// openFile opens a file until the context ends: a named pipe waits for its writer.
func openFile(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case x := <-done:
		return x.f, x.err
	}
}

// stoppable is a pipe or a terminal, whose reads may wait for ever: one that waits when
// the context ends is abandoned.
type stoppable struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	done chan got
}

// got is the outcome of a read.
type got struct {
	n   int
	err error
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.buf == nil {
		s.buf, s.done = make([]byte, headSize), make(chan got, 1)
	}
	buf := s.buf[:min(len(p), len(s.buf))]
	go func() {
		n, err := s.r.Read(buf)
		s.done <- got{n, err}
	}()
	select {
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	case x := <-s.done:
		return copy(p, buf[:x.n]), x.err
	}
}

// isRegular reports whether reads of a file do not wait for other programs.
func isRegular(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode().IsRegular()
}

// pack calls write with a writer that compresses to out, if there is a packing.
func (o *Options) pack(p *packing, out io.Writer, write func(io.Writer) error) error {
	if p == nil {
		return write(out)
	}
	w, err := p.write(out)
	if err != nil {
		return err
	}
	n := &noting{Writer: w}
	if err = write(n); err != nil && !(o.Copy && n.hasOutput) {
		return err // the end of an empty file would hide that it lacks everything
	}
	return cmp.Or(err, w.Close())
}

// rewrite rewrites a document.
func (o *Options) rewrite(ctx context.Context, run *filter.Run, f *format, in Input, out io.Writer) error {
	return withContent(ctx, in, func(data []byte) error {
		w := &noting{Writer: out}
		err := f.rewrite(ctx, run, data, w)
		if err != nil && o.Copy && !w.hasOutput && ctx.Err() == nil {
			_, werr := out.Write(data)
			err = cmp.Or(werr, err)
		}
		return err
	})
}

// noting is a writer that notes whether it has output.
type noting struct {
	io.Writer
	hasOutput bool
}

func (w *noting) Write(p []byte) (int, error) {
	w.hasOutput = true
	return w.Writer.Write(p)
}

// withContent calls use with the content of an input.
func withContent(ctx context.Context, in Input, use func(data []byte) error) (err error) {
	src := in.Data
	if src != nil {
		src, _ = bin.InPlace(src)
	} else {
		var done func()
		if src, done, err = companion.OpenUnpacked(ctx, in.Name, in.Stdin); err != nil {
			return err
		}
		defer done()
	}
	data, ok := bin.Whole(src)
	if !ok {
		if data, err = bin.Read(src, 0, int(src.Size())); err != nil {
			return err
		}
	}
	return use(data)
}

// packingOf returns the compression of the input, nil without one.
func packingOf(raw *bufio.Reader) *packing {
	for i := range packings {
		p := &packings[i]
		if b, _ := raw.Peek(1); len(b) == 0 || b[0] != p.magic[0] {
			continue
		}
		if b, _ := raw.Peek(len(p.magic)); string(b) == p.magic {
			return p
		}
	}
	return nil
}

// Unpack returns the content of an input, which may be compressed.
func Unpack(raw *bufio.Reader) (io.ReadCloser, error) {
	p := packingOf(raw)
	if p == nil {
		return io.NopCloser(raw), nil
	}
	r, err := p.open(raw)
	if err == io.EOF { // as gzip calls the end of its header
		err = io.ErrUnexpectedEOF
	}
	return r, err
}

// headOf returns the beginning of the content: of text what has arrived, at least a line.
func headOf(raw *bufio.Reader, p *packing) ([]byte, error) {
	if p != nil {
		packed, _ := raw.Peek(headSize)
		r, err := p.open(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		head := make([]byte, headSize)
		n, _ := io.ReadFull(r, head)
		return head[:n], nil
	}
	for {
		head, err := raw.Peek(raw.Buffered())
		if err != nil || isEnough(head) {
			return head, err
		}
		if _, err = raw.Peek(len(head) + 1); err == io.EOF || err == bufio.ErrBufferFull {
			return head, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// isEnough reports whether a format is found in less than headSize bytes: a line of
// text is enough, and a row of JSON, but other documents in JSON and binary ones need
// more.
func isEnough(head []byte) bool {
	content := bytes.TrimLeft(head, " \t\r\n")
	if len(content) == 0 || bytes.IndexByte(head, '\n') < 0 {
		return false
	}
	if content[0] == '{' || content[0] == '[' {
		row, _, isLine := bytes.Cut(content, []byte("\n"))
		return isLine && json.Valid(row)
	}
	return content[0] >= ' '
}

// Options select and configure a format.
type Options struct {
	Format string // a name of Names
	// Copy is set if the output is used after an error: a document that cannot be read is
	// copied, and a compressed output that was begun is ended.
	Copy bool
	Rows rows.Options
}

// formats returns all formats, in the order in which they are tried. Every text is a
// log.
func (o *Options) formats() []format {
	return []format{
		{name: "firefox", is: firefox.Is, rewrite: firefox.Rewrite},
		{name: "trace", is: trace.Is, rewrite: trace.Rewrite},
		{name: "sample", is: apple.IsSamples, rewrite: apple.RewriteSamples},
		{name: "apple", is: func(head []byte) bool { return apple.Is(head) || rows.IsReport(head) }, rewrite: report},
		{name: "perfetto", is: perfetto.Is, rewrite: perfetto.Rewrite},
		{name: "pprof", is: pprof.Is, rewrite: pprof.Rewrite},
		{name: "otlp", is: otlp.Is, rewrite: otlp.Rewrite},
		{name: "perf", is: perf.Is, filter: perf.Filter},
		{name: "rows", is: o.hasRows, filter: o.rows},
		{name: "text", is: func([]byte) bool { return true }, filter: Logs},
	}
}

// hasRows reports whether a file has rows: all do with an option for rows.
func (o *Options) hasRows(head []byte) bool {
	return o.Rows.Chunks || o.Rows.Field != "" || rows.Is(head)
}

// report rewrites a crash report of Apple's systems: JSON after a line of JSON, or
// text.
func report(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	if rows.IsReport(data) {
		return rows.RewriteReport(ctx, run, data, out)
	}
	return apple.Rewrite(ctx, run, data, out)
}

// rows rewrites rows of JSON, and logs in them.
func (o *Options) rows(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	opt := o.Rows
	opt.Text, opt.Strict = Text, opt.Chunks
	if !opt.Chunks {
		_, _ = in.Peek(len("{\n")) // a row may be the last one until it has an answer
		head, _ := in.Peek(in.Buffered())
		opt.Document = rows.IsDocument(head)
	}
	_, err := opt.Filter(ctx, run, in, out)
	return err
}

// formatOf returns the format of the options, or else of the beginning of the content.
func (o *Options) formatOf(head []byte) (*format, error) {
	for _, x := range refused {
		if bytes.HasPrefix(head, []byte(x.magic)) {
			return nil, errors.New(x.advice)
		}
	}
	if isUTF16(head) {
		return nil, errUTF16
	}
	for _, f := range o.formats() {
		if f.name == o.Format || o.Format == "auto" && f.is(head) {
			return &f, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q", o.Format)
}
