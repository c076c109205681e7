package receive

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"symbolon/internal/api"
	"symbolon/internal/archive"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// EachFile calls yield for the files of an archive, with their numbers and names in it.
// It calls yield for several small files concurrently, so that storing them uses all
// cores, and stops at an error. It returns the error of the first file that has one. If a
// file or the archive cannot be unpacked, the error is an *api.Refusal that names it.
func EachFile(src bin.Source, space bin.Space, yield func(number int, name string, r io.Reader) error) error {
	c := newWorkers(yield)
	err := archive.Each(src, "", archive.Limits{}, space, c.file)
	if failed := c.wait(); failed != nil {
		return failed
	}
	if err != nil {
		f := fault.Of(err)
		return api.Invalid("cannot read the archive: %s", strings.TrimPrefix(f.Place+": "+f.Detail, ": "))
	}
	return nil
}

const (
	maxWorkers = 4
	maxSmall   = 1 << 20 // bytes of a file that is held in memory
)

// workers calls yield for files, for small ones in goroutines.
type workers struct {
	yield func(number int, name string, r io.Reader) error
	idle  chan []byte // memory of goroutines that do not run
	files int         // so far

	mu     sync.Mutex
	failed error // of the first file that failed
	at     int   // the number of that file
}

func newWorkers(yield func(number int, name string, r io.Reader) error) *workers {
	c := &workers{yield: yield, idle: make(chan []byte, min(runtime.GOMAXPROCS(0), maxWorkers))}
	for range cap(c.idle) {
		c.idle <- make([]byte, maxSmall)
	}
	return c
}

// file begins to call yield for a file. It returns the error of an earlier file.
func (c *workers) file(name string, r io.Reader) error {
	buf := <-c.idle
	if err := c.err(); err != nil {
		c.idle <- buf
		return err
	}
	c.files++
	number := c.files
	in := &bin.ErrReader{R: r}
	n, err := io.ReadFull(in, buf)
	if err == nil || in.Err != nil { // large, or it fails on
		c.call(number, name, in, io.MultiReader(bytes.NewReader(buf[:n]), in))
		c.idle <- buf
		return c.err()
	}
	go func() {
		c.call(number, name, in, bytes.NewReader(buf[:n]))
		c.idle <- buf
	}()
	return nil
}

// call calls yield. The error of reading the file is in.Err.
func (c *workers) call(number int, name string, in *bin.ErrReader, r io.Reader) {
	err := c.yield(number, name, r)
	switch {
	case errors.Is(in.Err, bin.ErrLimit):
		err = api.Refuse(http.StatusRequestEntityTooLarge, "cannot unpack %.200q: the archive unpacks to too many bytes, or to far more than its own size; send its files in several archives", name)
	case in.Err != nil:
		err = api.Invalid("cannot unpack %.200q: %s", name, fault.Of(in.Err).Detail)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && (c.failed == nil || number < c.at) {
		c.failed, c.at = err, number
	}
}

// err returns the error for the first file that has one so far.
func (c *workers) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// wait waits for the goroutines, and returns the error for the first file that has one.
func (c *workers) wait() error {
	for range cap(c.idle) {
		<-c.idle
	}
	return c.failed
}
