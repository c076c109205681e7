package node

import (
	"context"
	"net/http"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/api/profiler"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// ForProfile returns the HTTP interfaces that the Firefox Profiler needs for a profile
// of this machine. Its clients may do everything.
func (n *Node) ForProfile() http.Handler {
	grant := func(*http.Request) (*token.Grant, error) { return operator(), nil }
	run := func(ctx context.Context, _ *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
		return n.engine.Unlimited().Run(ctx, req)
	}
	names := mozilla.New(mozilla.Config{Extensions: true}, mozilla.Deps{Grant: grant, Run: run, Now: time.Now, Log: n.log})
	sources := profiler.New(profiler.Config{Enabled: true}, profiler.Deps{
		Grant: grant, Run: run, Code: n.programFor, Source: n.sourceFromServer, HasFiles: true, Log: n.log,
	})
	opt := api.Options{Log: n.log, Now: time.Now, Memory: n.memory.requests}
	return api.New(api.Config{}, opt, names.Routes(), sources.Routes())
}

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
