package standin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// A debuginfod gets the debug files of build ids from servers. It keeps them in a
// folder, in the tree that package companion searches too.
type debuginfod struct {
	dir     string
	client  *web.Client
	servers []*web.Source
	tried   map[string]bool // by path
}

// newDebuginfod returns one for the servers and the folder in the environment, nil
// without any.
func newDebuginfod(e *Env) (*debuginfod, error) {
	urls := strings.Fields(e.Getenv("DEBUGINFOD_URLS"))
	d := &debuginfod{dir: e.Getenv("DEBUGINFOD_CACHE_PATH"), tried: map[string]bool{}}
	if d.dir == "" && len(urls) == 0 {
		return nil, nil
	}
	if d.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		d.dir = filepath.Join(cache, "symbolon", "debuginfod")
	}
	d.client = web.NewClient(web.Config{}, time.Now, slog.New(slog.DiscardHandler))
	for _, u := range urls {
		if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
			continue // such as elfutils' ima:enforcing
		}
		c, err := source.ParseSpec(strings.TrimSuffix(u, "/") + "/buildid/,layout=" + source.Debuginfod)
		if err != nil {
			return nil, fmt.Errorf("DEBUGINFOD_URLS: %w", err)
		}
		s, err := web.New(d.client, c)
		if err != nil {
			return nil, fmt.Errorf("DEBUGINFOD_URLS: %w", err)
		}
		d.servers = append(d.servers, s)
	}
	return d, nil
}

// find returns the path of the debug file of a build id, empty if there is none.
// Each is looked for once.
func (d *debuginfod) find(ctx context.Context, id []byte) string {
	text := fmt.Sprintf("%x", id)
	path := filepath.Join(d.dir, ".build-id", text[:2], text[2:]+".debug")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if d.tried[path] {
		return ""
	}
	d.tried[path] = true
	m := ident.Module{Type: ident.TypeELF, CodeID: ident.CodeID(text)}.Derive()
	for _, s := range d.servers {
		for _, kind := range []string{source.ELFDebug, source.ELFCode} {
			candidates, err := s.Candidates(ctx, m, []string{kind})
			if err == nil && len(candidates) > 0 && d.fetch(ctx, s, candidates[0], path) == nil {
				return path
			}
		}
	}
	return ""
}

// fetch stores a file at a path, complete or not at all.
func (d *debuginfod) fetch(ctx context.Context, s *web.Source, c source.Candidate, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return err
	}
	_, err = s.Fetch(ctx, c, f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error counts
	}
	return err
}
