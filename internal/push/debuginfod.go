package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/transfer"
)

// debuginfods fetches debug files from debuginfod servers.
type debuginfods struct {
	client *http.Client
	urls   []string
	warn   func(text string)
}

// newDebuginfods is servers of debug files, in their order.
func newDebuginfods(urls []string, warn func(string)) *debuginfods {
	d := &debuginfods{client: &http.Client{}, warn: warn}
	for _, u := range urls {
		if strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://") { // policies stand between them
			d.urls = append(d.urls, strings.TrimRight(u, "/"))
		}
	}
	return d
}

// complete fetches the debug file of a binary, and the one that it shares with
// others, if they were not found. It gives the debug file, or d without one.
func (f *debuginfods) complete(ctx context.Context, d *companion.File, dir string) (*companion.File, error) {
	if len(f.urls) == 0 {
		return d, nil
	}
	own := d.Object().Info()
	if id, err := ident.ParseBuildID(own.Module.CodeID.String()); err == nil && own.Features&object.HasDebug == 0 {
		name, err := f.get(ctx, id.String(), dir)
		if err != nil {
			return d, err
		}
		if name != "" {
			fetched, err := companion.Open(name, companion.Options{})
			switch {
			case err != nil:
				f.warn(fmt.Sprintf("what debuginfod has for build id %s is of no use: %v", id, err))
			case fetched.Object().Info().Module.CodeID != own.Module.CodeID:
				f.warn(fmt.Sprintf("debuginfod has another file for build id %s", id))
				fetched.Close()
			default:
				d.Close()
				d = fetched
			}
		}
	}
	for _, n := range d.Object().Needs() {
		if n.Kind != object.NeedAlt || len(n.ID) == 0 {
			continue
		}
		name, err := f.get(ctx, fmt.Sprintf("%x", n.ID), dir)
		if err != nil {
			return d, err
		}
		if name != "" {
			d.Supply(n, name)
		}
	}
	return d, nil
}

// get fetches a file into a folder. It gives no name if no server has it.
func (f *debuginfods) get(ctx context.Context, id, dir string) (name string, err error) {
	for _, u := range f.urls {
		name, err := f.from(ctx, u+"/buildid/"+id+"/debuginfo", dir)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err == nil && name != "" {
			return name, nil
		}
		if err != nil { // another one may have it
			f.warn(err.Error())
		}
	}
	return "", nil
}

func (f *debuginfods) from(ctx context.Context, url, dir string) (name string, err error) {
	ctx, guard := transfer.NewGuard(ctx, pushStall)
	defer guard.Close()
	guard.Start()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", "symbolon")
	r, err := f.client.Do(req)
	if err != nil {
		return "", stalled(ctx, err)
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return "", nil
	default:
		return "", fmt.Errorf("%s: %s", req.URL.Redacted(), r.Status)
	}
	out, err := os.CreateTemp(dir, "debuginfo-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, guard.Reader(r.Body))
	if err := errors.Join(err, out.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", req.URL.Redacted(), stalled(ctx, err))
	}
	return out.Name(), nil
}
