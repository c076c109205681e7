package auto

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"symbolon/internal/filter/firefox"
)

// viewers has the advice for files that are not profiles of the Firefox Profiler.
var viewers = map[string]string{
	"pprof": "run symbolon filter FILE -o NAMED, then go tool pprof -http=: NAMED",
	"perf":  "run symbolon filter FILE -o NAMED, then load NAMED at https://profiler.firefox.com",
	"trace": "run symbolon filter FILE -o NAMED, then load NAMED at https://profiler.firefox.com, or in its own viewer",
}

// CheckProfile returns an error, with advice, if a file is not a profile of the
// Firefox Profiler that a browser can load.
func CheckProfile(file io.Reader) error {
	raw := bufio.NewReaderSize(file, headSize)
	p := packingOf(raw)
	head, err := headOf(raw, p)
	if err != nil {
		return p.wrap(err)
	}
	if string(head[:min(len(head), 8)]) == "PERFILE2" {
		return errors.New("a perf.data file is not a profile of the Firefox Profiler: run samply import FILE --save-only -o PROFILE.json.gz")
	}
	is, err := (&Options{Format: "auto"}).formatOf(head)
	switch {
	case err != nil:
		return err
	case is.name != "firefox" && viewers[is.name] != "":
		return fmt.Errorf("a file of the format %s is not a profile of the Firefox Profiler: %s", is.name, viewers[is.name])
	case is.name != "firefox":
		return errors.New("the file is not a profile of the Firefox Profiler; symbolon filter writes names into logs, traces and other profiles")
	case p != nil && p.name != "gzip":
		return fmt.Errorf("browsers do not load a profile in %s: decompress it first", p.name)
	}
	return nil
}

// AddLibraries adds the libraries that a profile was recorded with, as far as their
// files are on this machine.
func (f *Files) AddLibraries(ctx context.Context, profile string) error {
	return withContent(ctx, Input{Name: profile}, func(data []byte) error {
		paths, err := firefox.Libraries(data)
		for _, path := range paths {
			_, _ = f.Identify(path) // one that is missing has no names
		}
		return err
	})
}
