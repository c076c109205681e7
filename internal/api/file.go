package api

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"symbolon/internal/bin"
)

// File is an open file that clients may read.
type File interface {
	bin.Source
	Info() FileInfo
	// Frames returns the content as a zstd stream of size bytes, if it is stored as one,
	// or else nil.
	Frames() (stream io.ReadSeeker, size int64)
	Close() error
}

// FileInfo describes a file. All of it may be missing.
type FileInfo struct {
	Name     string // base name
	Key      string // of the content in the store, for the log
	Tag      string // identifies the content
	Modified time.Time
}

// SendFile answers with a file or the requested range of it. A client that accepts zstd
// gets the stored stream, if there is one. The caller sets Content-Type. If the file
// cannot be read completely, the connection is reset: after any other end, some clients
// would keep the bytes that they received as a complete file.
func SendFile(w http.ResponseWriter, r *http.Request, f File, log *slog.Logger) {
	h := w.Header()
	info := f.Info()
	tag := info.Tag
	content := &reading{}
	if stream, size := f.Frames(); stream != nil && r.Header.Get("Range") == "" && negotiate(r.Header.Values("Accept-Encoding")) == "zstd" {
		content.ReadSeeker = stream
		h.Set("Content-Encoding", "zstd")
		h.Set("Content-Length", strconv.FormatInt(size, 10)) // not set by ServeContent for an encoded answer
		tag += "-zstd"
	} else {
		content.ReadSeeker = io.NewSectionReader(f, 0, f.Size())
	}
	if info.Tag != "" {
		h.Set("ETag", `"`+tag+`"`)
	}
	http.ServeContent(w, r, "", info.Modified, content)
	if content.err != nil && r.Context().Err() == nil {
		log.Error("cannot read all of a file", "request_id", RequestID(r.Context()), "file", info.Name, "key", info.Key, "error", content.err)
		Reset(w, http.StatusInternalServerError)
	}
}

// reading keeps the error of reading, which http.ServeContent hides.
type reading struct {
	io.ReadSeeker
	err error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
