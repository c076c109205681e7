package node

import (
	"context"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
	"symbolon/internal/token"
)

// programFor finds the program of a module among the files that may answer a client.
func (n *Node) programFor(ctx context.Context, g *token.Grant, m ident.Module) (*locate.Found, error) {
	kinds := []string{source.ELFCode, source.PE, source.MachCode}
	found, _, err := n.answering(ctx, g, "").Requested(ctx, source.FileRequest{Module: m, Kinds: kinds, Part: source.CodePart})
	return found, err
}

// sourceFromServer returns a source file of a program from the first debuginfod server
// that a client may use and that has it.
func (n *Node) sourceFromServer(ctx context.Context, g *token.Grant, program ident.CodeID, path string) ([]byte, error) {
	var why error = fault.New(fault.NotFound, "", "no debuginfod server has it")
	for _, s := range n.sourcesOf(g, nil) {
		server, ok := s.(*web.Source)
		if !ok {
			continue
		}
		text, err := server.SourceFile(ctx, program, path)
		if err == nil {
			return text, nil
		}
		if fault.KindOf(err) != fault.NotFound {
			why = err
		}
	}
	return nil, why
}
