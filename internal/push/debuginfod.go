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

// debuginfod fetches debug files from debuginfod servers.
type debuginfod struct {
	client *http.Client
	urls   []string
	warn   func(text string)
}

// newDebuginfod keeps the URLs of a list. DEBUGINFOD_URLS may have policies such as
// ima:enforcing between them.
func newDebuginfod(urls []string, warn func(string)) *debuginfod {
	d := &debuginfod{client: &http.Client{}, warn: warn}
	for _, u := range urls {
		if strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://") {
			d.urls = append(d.urls, strings.TrimRight(u, "/"))
		}
	}
	return d
}

// complete fetches the debug file of a binary, and the one that it shares with
// others, if they were not found on the disk. It returns the debug file, or own if
// no server has one.
func (d *debuginfod) complete(ctx context.Context, own *companion.File, dir string) (*companion.File, error) {
	if len(d.urls) == 0 {
		return own, nil
	}
	f := own
	info := own.Object().Info()
	if id, err := ident.ParseBuildID(info.Module.CodeID.String()); err == nil && info.Features&object.HasDebug == 0 {
		name, err := d.fetch(ctx, id.String(), dir)
		if err != nil {
			return own, err
		}
		if name != "" {
			fetched, err := companion.Open(name, companion.Options{})
			switch {
			case err != nil:
				d.warn(fmt.Sprintf("open the file of debuginfod for build id %s: %v", id, err))
			case fetched.Object().Info().Module.CodeID != info.Module.CodeID:
				d.warn(fmt.Sprintf("the file of debuginfod for build id %s has another build id", id))
				fetched.Close()
			default:
				own.Close()
				f = fetched
			}
		}
	}
	for _, n := range f.Object().Needs() {
		if n.Kind != object.NeedAlt || len(n.ID) == 0 {
			continue
		}
		name, err := d.fetch(ctx, fmt.Sprintf("%x", n.ID), dir)
		if err != nil {
			return f, err
		}
		if name != "" {
			f.Supply(n, name)
		}
	}
	return f, nil
}

// fetch fetches a file into a folder, from the first server that has it. It returns
// no name if none has.
func (d *debuginfod) fetch(ctx context.Context, id, dir string) (name string, err error) {
	for _, u := range d.urls {
		name, err := d.fetchURL(ctx, u+"/buildid/"+id+"/debuginfo", dir)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err == nil && name != "" {
			return name, nil
		}
		if err != nil { // the next server may have it
			d.warn(err.Error())
		}
	}
	return "", nil
}

func (d *debuginfod) fetchURL(ctx context.Context, url, dir string) (name string, err error) {
	ctx, guard := transfer.NewGuard(ctx, stallTimeout)
	defer guard.Close()
	guard.Start()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", "symbolon")
	r, err := d.client.Do(req)
	if err != nil {
		return "", stallCause(ctx, err)
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
		return "", fmt.Errorf("%s: %w", req.URL.Redacted(), stallCause(ctx, err))
	}
	return out.Name(), nil
}
