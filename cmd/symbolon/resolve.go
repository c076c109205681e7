package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"symbolon/internal/answer"
	"symbolon/internal/cli"
	"symbolon/internal/companion"
	"symbolon/internal/ident"
	"symbolon/internal/node"
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

func resolveCommand(e *env) *cobra.Command {
	f := resolveFlags{format: "text"}
	c := &cobra.Command{
		Use: "resolve FILE | --fileid ID [ADDR...]", Short: "Turn addresses into names, straight from a debug file",
		Long: `Addresses are hexadecimal, with or without 0x, as arguments or one per line of
standard input. Answers have the same order, and each is printed at once. An
address of a portable PDB is the token of a method and an offset in its IL, as
in 0x06000001+0x1a. Frames are innermost first: inlined calls, then the function
that contains them.

Formats: text for people; jsonl, one object per address; json, an array of the
same objects; gnu and llvm, the output of addr2line -fi and llvm-symbolizer.
An address without a name is an answer, not a failure.

With --fileid the addresses belong to a binary whose symbols were uploaded to the
server of the data directory: as linked, minus one for return addresses.`,
		RunE: func(c *cobra.Command, args []string) error { return resolve(c.Context(), e, &f, args) },
	}
	fs := c.Flags()
	f.conf.addBase(fs)
	fs.StringVar(&f.file, "fileid", "", "ask the server for the binary with this `ID`, instead of reading FILE")
	fs.Var(cli.NewChoice(&f.format, []string{"text", "json", "jsonl", "gnu", "llvm"}), "format", "text, json, jsonl, gnu or llvm as `FORMAT`")
	fs.Var(cli.NewChoice(&f.addr, []string{"rva", "vaddr"}), "addr", "`KIND` of the addresses: rva (relative to the image, default of text and json) or "+
		"vaddr (as linked, default of gnu and llvm)")
	objectFlags(fs, &f.open)
	fs.StringArrayVar(&f.open.Dirs, "debug-dir", nil, "also search separate debug files in `DIR`; may be repeated")
	fs.BoolVar(&f.table, "table", false, "build a table first and answer from it, which is faster for very many addresses")
	fs.BoolVar(&f.noDemangle, "no-demangle", false, "keep mangled names")
	return c
}

// resolve answers the addresses of the command line or of standard input.
func resolve(ctx context.Context, e *env, f *resolveFlags, args []string) error {
	if f.file != "" {
		return resolveUploaded(ctx, e, f, args)
	}
	if err := f.check(args); err != nil {
		return err
	}
	for _, dir := range f.open.Dirs {
		if _, err := os.ReadDir(dir); err != nil {
			say(e.stderr, "symbolon: --debug-dir: %v\n", err)
		}
	}
	f.open.Stdin = e.stdin
	q := standin.Query{File: args[0], Open: f.open, Relative: f.addr == "rva", Mangled: f.noDemangle, Addrs: args[1:]}
	var status int
	var err error
	switch f.format {
	case "gnu":
		status, err = standin.ResolveLikeGNU(ctx, e.tool(), q)
	case "llvm":
		status, err = standin.ResolveLikeLLVM(ctx, e.tool(), q)
	default:
		q.Relative = f.addr != "vaddr"
		return standin.Resolve(ctx, e.tool(), q, f.format, f.table)
	}
	if err == nil && status != exitDone {
		err = errReported
	}
	return err
}

// check refuses flags and arguments that do not go together.
func (f *resolveFlags) check(args []string) error {
	isTool := f.format == "gnu" || f.format == "llvm"
	text := ""
	switch {
	case len(args) == 0:
		text = "FILE is required"
	case isTool && f.table:
		text = "--table requires --format text, json or jsonl"
	case !isTool && args[0] == "-" && len(args) == 1:
		text = "addresses must be arguments if the file is standard input"
	default:
		return nil
	}
	return cli.Usage(text)
}

// resolveUploaded answers from the uploaded symbols of a binary.
func resolveUploaded(ctx context.Context, e *env, f *resolveFlags, args []string) error {
	file, err := ident.ParseFileID(f.file)
	if err != nil {
		return cli.Usage("--fileid: " + err.Error())
	}
	if _, ok := answer.Formats[f.format]; !ok || f.table || f.addr == "rva" || f.open.Arch != "" || f.open.Object != 0 || len(f.open.Dirs) > 0 {
		return cli.Usage("with --fileid there are --format text, json and jsonl, and --data or --config")
	}
	op, err := f.conf.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.Close()
	return standin.ResolveWith(ctx, e.tool(), f.format, args, func(addr uint64) ([]answer.Frame, error) {
		list, err := op.Frames(ctx, node.FileQuery{FileID: file, Addrs: []uint64{addr}})
		if err != nil || len(list) != 1 {
			return nil, err
		}
		return list[0].Frames, nil
	})
}
