package difs

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path"
	"strings"

	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/store"
)

// Kinds of file that nothing reads.
const (
	proguard       = "proguard"
	dartSymbolMap  = "dartsymbolmap"
	artifactBundle = "artifactbundle" // of JavaScript
)

// isUnused reports whether nothing reads the files of a kind.
func isUnused(kind string) bool { return kind == proguard || kind == dartSymbolMap }

// headSize is how many bytes are enough to recognize a file.
const headSize = 64

// claimOf returns the claim for a file that has no identifier of its own, by its
// beginning, its name, and the debug id that the client sent with it. It is nil for all
// other files.
func claimOf(name string, sent ident.DebugID, head []byte) *store.Claim {
	named, err := ident.ParseDebugID(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if err != nil {
		named = ident.DebugID{}
	}
	id := sent
	if id.IsZero() {
		id = named
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
	switch {
	case strings.Contains("/"+name, "/proguard/"):
		return &store.Claim{Kind: proguard, DebugID: named}
	case id.IsZero():
		return nil
	case begins("BCSymbolMap Version:"):
		return &store.Claim{Kind: source.BCSymbolMap, DebugID: id}
	case begins("<?xml") && strings.HasSuffix(name, ".plist"):
		return &store.Claim{Kind: source.UUIDMap, DebugID: id}
	case begins("{"):
		return &store.Claim{Kind: source.IL2CPP, DebugID: id}
	case begins("["):
		return &store.Claim{Kind: dartSymbolMap, DebugID: id}
	}
	return nil
}

// addFile adds a file to an upload.
func addFile(ctx context.Context, draft *store.Draft, p *part, r io.Reader) (*store.Record, error) {
	sent := store.Sent{Name: p.name, SHA1: p.sum}
	if p.kind != "" {
		sent.Claim = &store.Claim{Kind: p.kind}
		return draft.Receive(ctx, sent, r)
	}
	src := bufio.NewReaderSize(r, headSize)
	head, _ := src.Peek(headSize) // a shorter file has a shorter beginning
	sent.Claim = claimOf(p.name, p.claim, head)
	return draft.Receive(ctx, sent, src)
}
