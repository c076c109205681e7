package main

import (
	"context"

	"symbolon/internal/answer"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/standin"
)

// resolveUploaded answers with what was uploaded of a binary.
func resolveUploaded(ctx context.Context, e *env, f *resolveFlags, args []string) error {
	file, err := ident.ParseFileID(f.file)
	if err != nil {
		return &usageError{text: "--fileid: " + err.Error()}
	}
	if _, ok := answer.Formats[f.format]; !ok || f.table || f.addr == "rva" || f.open.Arch != "" || f.open.Object != 0 || len(f.open.Dirs) > 0 {
		return &usageError{text: "with --fileid there are --format text, json and jsonl, and --data or --config"}
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
