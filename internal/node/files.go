package node

import (
	"context"
	"io"
	"iter"
	"path"
	"slices"

	"symbolon/internal/api"
	"symbolon/internal/api/tecken"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/store"
	"symbolon/internal/store/blob"
	"symbolon/internal/token"
)

// openFor returns the first requested file that a client may read.
func (n *Node) openFor(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error) {
	return n.openIn(ctx, g, "", asked)
}

// openIn is openFor in a scope of the caches: it asks the uploads, then the sources.
func (n *Node) openIn(ctx context.Context, g *token.Grant, scope string, asked []source.FileRequest) (api.File, error) {
	f, err := n.openUploaded(ctx, g.Visible(tecken.Regular(n.projects(ctx))), asked)
	if f != nil || err != nil {
		return f, err
	}
	return n.openFile(ctx, n.locatorOver(ctx, g, scope, regular(g.Visible)), asked)
}

// openUploaded returns the first requested file of the uploads of projects, or nil.
func (n *Node) openUploaded(ctx context.Context, projects []string, asked []source.FileRequest) (api.File, error) {
	for f, err := range n.uploaded(ctx, projects, asked) {
		if err != nil {
			return nil, err
		}
		r, err := n.uploads.files.Open(ctx, f)
		if err == nil {
			return &uploadedFile{r, f}, nil
		}
		if kind := fault.KindOf(err); kind != fault.NotFound && kind != fault.Malformed {
			return nil, err
		}
		n.log.Warn("cannot open a file of an upload", "upload", f.Upload, "file", f.Name, "error", err)
	}
	return nil, nil
}

// uploaded yields the requested files of the uploads of projects, in the order of the
// requests. It ends with an error.
func (n *Node) uploaded(ctx context.Context, projects []string, asked []source.FileRequest) iter.Seq2[*store.Found, error] {
	return func(yield func(*store.Found, error) bool) {
		var found []store.Found
		var err error
		for i, a := range asked {
			if i == 0 || a.Module != asked[i-1].Module {
				if found, err = n.uploads.files.Find(ctx, projects, store.Question{Module: a.Module}); err != nil {
					yield(nil, err)
					return
				}
			}
			for i := range found {
				if isUploaded(&found[i], a) && !yield(&found[i], nil) {
					return
				}
			}
		}
	}
}

// isUploaded reports whether a file of an upload is the requested one.
func isUploaded(f *store.Found, a source.FileRequest) bool {
	if f.Object < 0 {
		return f.Claim != nil && slices.Contains(a.Kinds, f.Claim.Kind)
	}
	o := &f.Record.Objects[f.Object]
	return o.IsOf(a.Kinds) && locate.HasPart(a.Part, o.Type, o.Features)
}

// uploadedFile is an open file of an upload. Close releases it.
type uploadedFile struct {
	*blob.Reader
	found *store.Found
}

// Info returns the name that the client claimed, and the time of the upload.
func (o *uploadedFile) Info() api.FileInfo {
	sum := o.found.Record.SHA256
	return api.FileInfo{
		Name: path.Base(o.found.Name), Key: store.Copy{SHA256: sum, N: o.found.Copy}.BlobKey(), Tag: sum.String()[:32], Modified: o.found.Time,
	}
}

// openTry returns the first requested file that a client may read, of try builds too.
func (n *Node) openTry(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error) {
	choose := func(all map[string]bool) []string { return tecken.WithTry(g, all) }
	return n.openFile(ctx, n.locatorOver(ctx, g, "", choose), asked)
}

// identify returns the identifiers of the first requested file that a client may read.
func (n *Node) identify(ctx context.Context, g *token.Grant, asked source.FileRequest) (ident.Module, error) {
	found, _, err := n.readable(ctx, g).Requested(ctx, asked)
	if err != nil {
		return ident.Module{}, err
	}
	defer found.Close()
	return found.Module, nil
}

// openFile returns the first requested file that a source has. If there is none, the
// error is NotFound only if no source failed.
func (n *Node) openFile(ctx context.Context, l *locate.Locator, asked []source.FileRequest) (api.File, error) {
	var why error
	for _, a := range asked {
		open := openOne
		if a.Kinds[0] == source.Breakpad {
			open = n.openSym
		}
		f, err := open(ctx, l, a)
		if err == nil {
			return f, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if why == nil || fault.KindOf(why) == fault.NotFound {
			why = err
		}
	}
	return nil, why
}

// openOne returns the file of one request.
func openOne(ctx context.Context, l *locate.Locator, asked source.FileRequest) (api.File, error) {
	found, _, err := l.Requested(ctx, asked)
	if err != nil {
		return nil, err
	}
	src, err := found.Content(ctx)
	if err != nil {
		found.Close()
		return nil, err
	}
	found.Keep()
	return &foundFile{io.NewSectionReader(src, 0, src.Size()), found}, nil
}

// foundFile is an open file of a source. Close releases it.
type foundFile struct {
	*io.SectionReader
	found *locate.Found
}

// Info returns the name of the file and its entity tag.
func (o *foundFile) Info() api.FileInfo {
	return api.FileInfo{Name: o.found.Name(), Tag: o.found.Tag()}
}

// Frames returns nil: the file is not stored as a zstd stream.
func (o *foundFile) Frames() (io.ReadSeeker, int64) { return nil, 0 }

// Close releases the file.
func (o *foundFile) Close() error {
	o.found.Close()
	return nil
}

// sourceFor returns the source file of a path, from the first of the modules whose
// files have it and may be read by a client.
func (n *Node) sourceFor(ctx context.Context, g *token.Grant, asked []source.FileRequest, path string) ([]byte, error) {
	var why error = fault.New(fault.NotFound, "", "no file has the source file")
	tables := n.tables.With(n.readable(ctx, g))
	for _, a := range asked {
		h, report := tables.Symbols(ctx, a.Module, locate.Sources)
		if h != nil {
			text, _ := h.Source(path)
			h.Close()
			if text != nil {
				return text, nil
			}
		}
		if report.Fault != nil && fault.KindOf(why) == fault.NotFound {
			why = report.Fault
		}
	}
	return nil, why
}
