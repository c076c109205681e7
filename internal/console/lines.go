package console

import (
	"bufio"
	"bytes"
	"context"
	"io"
)

// maxLine is how long a line of standard input may be: a line of text may be a
// whole file.
const maxLine = 256 << 20

// EachLine calls do for the lines of in until it fails or ctx ends: reading
// from a terminal cannot be interrupted, but it need not be waited for.
func EachLine(ctx context.Context, in io.Reader, do func(line string) error) error {
	return each(ctx, in, bufio.ScanLines, do)
}

// EachFullLine is like EachLine, with the ends of the lines.
func EachFullLine(ctx context.Context, in io.Reader, do func(line string) error) error {
	return each(ctx, in, func(data []byte, atEOF bool) (int, []byte, error) {
		switch n := bytes.IndexByte(data, '\n') + 1; {
		case n > 0:
			return n, data[:n], nil
		case atEOF && len(data) > 0:
			return len(data), data, nil
		}
		return 0, nil, nil
	}, do)
}

func each(ctx context.Context, in io.Reader, split bufio.SplitFunc, do func(line string) error) error {
	lines, failed := make(chan string, 256), make(chan error, 1)
	go func() {
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLine)
		scan.Split(split)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scan.Err()
		close(lines)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				return <-failed
			}
			if err := do(line); err != nil {
				return err
			}
		}
	}
}
