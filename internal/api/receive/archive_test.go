package receive_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
)

const large = 3 << 20 // bytes of a file that is not held in memory

// zipOf returns a zip with a large file and small ones.
func zipOf(t *testing.T, small int) bin.Source {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name, content string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("large", strings.Repeat("x", large))
	for i := range small {
		add(fmt.Sprint(i), fmt.Sprint("content of ", i))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bin.Bytes(b.Bytes())
}

func TestFilesOfAnArchiveHaveTheirContent(t *testing.T) {
	var files, bytes atomic.Int64
	err := receive.EachFile(zipOf(t, 100), nil, func(_ int, name string, r io.Reader) error {
		text, err := io.ReadAll(r)
		if err == nil && name != "large" && string(text) != "content of "+name {
			err = fmt.Errorf("%s has %q", name, text)
		}
		files.Add(1)
		bytes.Add(int64(len(text)))
		return err
	})
	if err != nil || files.Load() != 101 || bytes.Load() < large {
		t.Fatalf("%d files of %d bytes, %v", files.Load(), bytes.Load(), err)
	}
}

func TestSmallFilesAreYieldedConcurrently(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // also on a machine with one core
	begun := make(chan bool)
	err := receive.EachFile(zipOf(t, 2), nil, func(_ int, name string, r io.Reader) error {
		switch name {
		case "0":
			<-begun // blocks for ever unless the other file is yielded too
		case "1":
			begun <- true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestErrorIsThatOfTheFirstFile(t *testing.T) {
	for range 50 {
		last := atomic.Int64{}
		err := receive.EachFile(zipOf(t, 100), nil, func(number int, name string, r io.Reader) error {
			last.Store(max(last.Load(), int64(number)))
			if strings.HasSuffix(name, "7") || strings.HasSuffix(name, "8") {
				return fmt.Errorf("%s is bad", name)
			}
			return nil
		})
		if err == nil || err.Error() != "7 is bad" || last.Load() > 20 {
			t.Fatalf("%v after %d files", err, last.Load())
		}
	}
}
