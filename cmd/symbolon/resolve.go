package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"symbolon/internal/answer"
	"symbolon/internal/companion"
	"symbolon/internal/standin"
)

type resolveFlags struct {
	conf       configFlags
	file       string
	open       companion.Options
	format     string
	addr       string
	table      bool
	noDemangle bool
}

func resolveCommand() *command {
	var f resolveFlags
	return &command{
		name:  "resolve",
		args:  "FILE | --fileid ID [ADDR...]",
		short: "Turn addresses into names, straight from a debug file",
		long: `Addresses are hexadecimal, with or without 0x, as arguments or one per line
of standard input; answers come in the same order, each as soon as it is known.
In a portable PDB they are the token of a method and an offset in its IL, as in
0x06000001+0x1a.
Frames are innermost first: inlined calls, then the function they are in.

Formats: text for people; jsonl, one object per address; json, an array of the
same objects; gnu and llvm, what addr2line -fi and llvm-symbolizer print.
An address about which nothing is known is an answer, not a failure.

With --fileid the addresses are those of a binary whose symbols were uploaded to
the server of the data directory: as linked, and of return addresses one less.`,
		flags: func(fs *flag.FlagSet) {
			f.conf.addBase(fs)
			fs.StringVar(&f.file, "fileid", "", "in place of a FILE, ask the server for the binary with this `ID`")
			fs.StringVar(&f.format, "format", "text", "text, json, jsonl, gnu or llvm as `FORMAT`")
			fs.StringVar(&f.addr, "addr", "", "`KIND` of the addresses: rva (relative to the image, the default of text and json) or vaddr (as linked, the default of gnu and llvm)")
			fs.StringVar(&f.open.Arch, "arch", "", "the object of a file of several that is for `ARCH`; empty is any")
			fs.IntVar(&f.open.Object, "object", 0, "the `N`th object of those, counted from 0")
			fs.Func("debug-dir", "look for separate debug files in `DIR` too; may be repeated", func(dir string) error {
				f.open.Dirs = append(f.open.Dirs, dir)
				return nil
			})
			fs.BoolVar(&f.table, "table", false, "make a table first and answer from that, which pays for very many addresses")
			fs.BoolVar(&f.noDemangle, "no-demangle", false, "leave mangled names as they are")
		},
		run: func(ctx context.Context, e *env, args []string) error { return resolve(ctx, e, &f, args) },
	}
}

func resolve(ctx context.Context, e *env, f *resolveFlags, args []string) error {
	if f.file != "" {
		return resolveUploaded(ctx, e, f, args)
	}
	asTool := f.format == "gnu" || f.format == "llvm"
	if _, ok := answer.Formats[f.format]; !ok && !asTool {
		return &usageError{text: fmt.Sprintf("unknown --format %q; there are text, json, jsonl, gnu and llvm", f.format)}
	}
	if err := f.check(args); err != nil {
		return err
	}
	f.open.Stdin = e.stdin
	q := standin.Query{File: args[0], Open: f.open, Relative: f.addr == "rva", Mangled: f.noDemangle, Args: args[1:]}
	switch {
	case asTool && f.table:
		return &usageError{text: "--table goes with --format text, json and jsonl"}
	case asTool:
		code, err := standin.AsTool(ctx, e.tool(), q, f.format == "gnu")
		if err == nil && code != exitDone {
			err = errTold
		}
		return err
	case args[0] == "-" && len(args) == 1:
		return &usageError{text: "with the file on standard input the addresses must be arguments"}
	}
	q.Relative = f.addr != "vaddr"
	return standin.Resolve(ctx, e.tool(), q, f.format, f.table)
}

func (f *resolveFlags) check(args []string) error {
	switch f.addr {
	case "", "rva", "vaddr":
	default:
		return &usageError{text: fmt.Sprintf("unknown --addr %q; there are rva and vaddr", f.addr)}
	}
	if len(args) == 0 {
		return &usageError{text: "which FILE?"}
	}
	return nil
}

// errTold is a failure that has been told.
var errTold = errors.New("")
