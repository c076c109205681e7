// Package text adds names to logs: text with stack traces on lines of their own, from any
// mixture of writers.
//
//	writer                      address                           step back
//	sanitizers of clang, gcc    as linked; dylibs: relative       done by the writer
//	Android tombstones, logcat  as linked                         done by the writer
//	systemd-coredump            relative                          all but the first
//	eu-stack with build ids     relative                          done by the writer
//	backtrace_symbols of glibc  as linked                         all
//	Ruby                        as linked, or in memory           all
//	backtrace_symbols of macOS  relative, or from a symbol        all
//	error logs of Java          relative                          all but the first
//	Firefox                     relative                          none, as by fix-stacks
//	Chromium, Rust, glog        in memory                         all
//	PyTorch, Python             as linked                         all
//	Node.js                     in memory, as linked              all
//	strace                      in the file                       all
//	Wine                        relative                          all but the first
//	Dart                        as linked                         done by the writer
//	Linux                       from a symbol                     all but that of the instruction
//	signals in Linux            in the file or a mapping          none
//	.NET                        method and offset                 done by the writer
//
// Everything before the number of a frame is a prefix of any form, so that logs with
// dates, colors or names of units are read as well. A frame with inlined calls becomes
// one line for each of them, and the frames after it in the same trace are renumbered. In
// a trace of Linux, the files of inlined calls are on the line of their function. Lines
// that have names, and all other lines, are copied; so are lines of more than 64 KiB.
//
// An address belongs to the module that its line names, with the build id on the line or
// else the one that filter.Run has for the name. Lines of systemd-coredump with the build
// ids of modules apply to the stack traces after them, until the next process. Addresses
// in memory belong to the files in the last lines of /proc/PID/maps before them.
//
// The frame after that of __restore_rt or __kernel_rt_sigreturn, which return from signal
// handlers, has the address of an instruction. It is looked up exactly if the line before it
// has that name, or if both addresses are as linked, in the file or in memory.
package text

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"symbolon/internal/filter"
)

// window is the largest part of the input whose addresses are looked up together,
// and the longest line that is parsed.
const window = 64 << 10

// Filter copies in to out and names the addresses. It flushes out before it waits
// for input.
func Filter(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	in = bufio.NewReaderSize(in, window)
	l := &log{run: run, out: out, modules: map[string]int32{}, ids: identities{}, fixed: fixed{modules: map[string]bool{}}}
	isLong := false
	for {
		chunk, err := lines(in, out, isLong)
		if err != nil && err != io.EOF {
			return err
		}
		if isLong || len(chunk) == window && chunk[len(chunk)-1] != '\n' {
			isLong = bytes.IndexByte(chunk, '\n') < 0
			_, werr := out.Write(chunk)
			if werr != nil {
				return werr
			}
		} else if werr := l.rewrite(ctx, chunk); werr != nil {
			return werr
		}
		if _, derr := in.Discard(len(chunk)); derr != nil {
			return derr
		}
		if err == io.EOF {
			return out.Flush()
		}
	}
}

// lines returns the whole lines that in has; or, if isRest, the rest of a line. It
// returns a part of a line only if that is as long as the window or the last one.
func lines(in *bufio.Reader, out *bufio.Writer, isRest bool) ([]byte, error) {
	for {
		chunk, _ := in.Peek(min(in.Buffered(), window))
		end := bytes.LastIndexByte(chunk, '\n') + 1
		if isRest && len(chunk) > 0 {
			end = len(chunk)
			if first := bytes.IndexByte(chunk, '\n'); first >= 0 {
				end = first + 1
			}
		}
		if end > 0 {
			return chunk[:end], nil
		}
		if len(chunk) == window {
			return chunk, nil
		}
		if err := out.Flush(); err != nil {
			return nil, err
		}
		if _, err := in.Peek(in.Buffered() + 1); err != nil {
			chunk, _ = in.Peek(in.Buffered())
			return chunk, err
		}
	}
}
