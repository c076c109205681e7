package elastic

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/token"
)

// forReaders returns h for clients that may read.
func (d *Door) forReaders(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if d.mayRead(w, r) {
			h(w, r)
		}
	}
}

// The reasons to refuse a client.
var (
	errNoToken  = errors.New(`the request has no token: send "Authorization: ApiKey TOKEN" with a token that symbolon token add printed`)
	errNoUpload = errors.New("the token does not allow uploads to the project " + ident.DefaultProject)
	errNoRead   = errors.New("the token does not allow reading the project " + ident.DefaultProject)
)

// needsToken reports whether err refuses a client without a valid token.
func needsToken(err error) bool {
	return errors.Is(err, errNoToken) || errors.Is(err, token.ErrUnknown)
}

// mayRead reports whether the client may read. If not, it answers with an error.
func (d *Door) mayRead(w http.ResponseWriter, r *http.Request) bool {
	err := d.checkRead(r)
	switch {
	case err == nil:
	case needsToken(err):
		api.FailError(w, r, http.StatusUnauthorized, err.Error())
	case errors.Is(err, errNoRead):
		api.FailError(w, r, http.StatusForbidden, err.Error())
	default:
		d.missing(w, r, err)
	}
	return err == nil
}

func (d *Door) checkRead(r *http.Request) error {
	g, err := d.Grant(r)
	if err != nil || g.May(token.Read, ident.DefaultProject) {
		return err
	}
	switch isOpen, err := d.IsOpen(r.Context()); {
	case isOpen || err != nil:
		return err
	case g.ID == "":
		return errNoToken
	}
	return errNoRead
}

// missing answers that a file has no symbols, or that the store failed.
func (d *Door) missing(w http.ResponseWriter, r *http.Request, err error) {
	switch status := api.Status(err); {
	case r.Context().Err() != nil: // the client has left
	case status == http.StatusNotFound:
		api.FailError(w, r, status, "no symbols of this file were uploaded here, or not all parts of them")
	default:
		d.Log.Error("cannot read the store of symbfiles", "request_id", api.RequestID(r.Context()), "error", err)
		api.FailError(w, r, status, "")
	}
}

// stored describes a symbfile of a binary.
type stored struct {
	Content   string    `json:"content"`
	Parts     int       `json:"parts"`
	Records   int64     `json:"records"`
	Size      int64     `json:"size"`
	Published time.Time `json:"published"`
}

// readFile answers with the symbfiles of a binary, or its frames at addresses.
func (d *Door) readFile(w http.ResponseWriter, r *http.Request) {
	file, err := parseFile(r.PathValue("rest"))
	if err != nil {
		api.FailError(w, r, http.StatusBadRequest, err.Error())
		return
	}
	if addrs := r.URL.Query()["addr"]; len(addrs) > 0 {
		d.lookupOne(w, r, file, addrs)
		return
	}
	answer := struct {
		FileID     ident.FileID  `json:"fileid"`
		BuildID    ident.BuildID `json:"build_id,omitempty"`
		Base       string        `json:"image_base,omitempty"`
		Ranges     *stored       `json:"ranges"`
		ReturnPads *stored       `json:"returnpads"`
	}{FileID: file}
	for _, kind := range [...]symbfile.Kind{symbfile.Ranges, symbfile.ReturnPads} {
		info, err := d.Store.Info(r.Context(), file, kind)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			continue
		case err != nil:
			d.missing(w, r, err)
			return
		}
		has := &stored{hex.EncodeToString(info.Content[:]), info.Parts, info.Records, info.Size, info.Published}
		if kind == symbfile.Ranges {
			answer.Ranges = has
		} else {
			answer.ReturnPads = has
		}
		if answer.BuildID.IsZero() && !info.BuildID.IsZero() { // those of the ranges come first
			answer.BuildID, answer.Base = info.BuildID, fmt.Sprintf("%#x", info.Base)
		}
	}
	if answer.Ranges == nil && answer.ReturnPads == nil {
		d.missing(w, r, fault.New(fault.NotFound, "", "nothing"))
		return
	}
	api.WriteJSON(w, http.StatusOK, answer)
}

// mirrorPath returns the file id in the path of a mirror.
func mirrorPath(r *http.Request) (ident.FileID, bool) {
	a, b, text := r.PathValue("a"), r.PathValue("b"), r.PathValue("id")
	id, err := parseFile(text)
	return id, err == nil && id.Base64() == text && strings.HasPrefix(text, a+b) && len(a) == 2 && len(b) == 2
}

// metadata answers with the id of the file that has the symbols: here that of the
// binary itself.
func (d *Door) metadata(w http.ResponseWriter, r *http.Request) {
	id, ok := mirrorPath(r)
	if !ok {
		api.FailError(w, r, http.StatusNotFound, "")
		return
	}
	info, err := d.Store.Info(r.Context(), id, symbfile.Ranges)
	if err != nil {
		d.missing(w, r, err)
		return
	}
	text := fmt.Sprintf(`{"version":1,"symbolFileReferences":{"dwarfFileID":%q}}`, id.Base64())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", tag(info))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}

// tag returns the ETag of a state of a file. States with the same content may differ
// in their metadata.
func tag(info *symbfile.Info) string {
	return fmt.Sprintf("\"%x-%x\"", info.Content[:10], info.Published.UnixNano())
}

// mirror serves symbfiles in their stored form. The answer and its ETag are of the same
// state of the file; otherwise the answer fails.
func (d *Door) mirror(kind symbfile.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, ok := mirrorPath(r)
		if !ok {
			api.FailError(w, r, http.StatusNotFound, "")
			return
		}
		b := &blob{ctx: r.Context(), store: d.Store, file: id, kind: kind}
		defer b.close()
		info, err := b.begin()
		if err != nil {
			d.missing(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("ETag", tag(info))
		http.ServeContent(w, r, "", time.Time{}, b)
		if b.err != nil { // only a broken connection tells the client
			if r.Context().Err() == nil {
				d.Log.Warn("cannot send all of a symbfile", "request_id", api.RequestID(r.Context()), "error", b.err)
			}
			panic(http.ErrAbortHandler)
		}
	}
}

// blob reads the stored form of a symbfile, from any offset. It fails if the file is
// replaced meanwhile.
type blob struct {
	ctx   context.Context
	store *symbfile.Store
	file  ident.FileID
	kind  symbfile.Kind
	attrs bucket.Attrs  // of the state that was opened first
	off   int64         // of the next Read
	src   io.ReadCloser // nil: not open
	at    int64         // the offset of src
	err   error
}

// maxOpens limits the attempts to open a file that is replaced again and again.
const maxOpens = 10

// begin opens the file, and returns the metadata of the same state.
func (b *blob) begin() (*symbfile.Info, error) {
	for range maxOpens {
		info, err := b.store.Info(b.ctx, b.file, b.kind)
		if err != nil {
			return nil, err
		}
		b.close()
		if b.src, b.attrs, err = b.store.Open(b.ctx, b.file, b.kind, 0); err != nil {
			return nil, err
		}
		if b.attrs.Version == info.Version {
			return info, nil
		}
	}
	return nil, fault.New(fault.Transport, b.file.Base64(), "the file was replaced repeatedly")
}

// open opens the file at off. It fails if the file was replaced.
func (b *blob) open() error {
	b.close()
	src, attrs, err := b.store.Open(b.ctx, b.file, b.kind, b.off)
	switch {
	case err != nil:
		return err
	case attrs.Version != b.attrs.Version || attrs.Size != b.attrs.Size:
		_ = src.Close() // another file
		return fault.New(fault.Transport, b.file.Base64(), "the file was replaced while it was sent")
	}
	b.src, b.at = src, b.off
	return nil
}

func (b *blob) close() {
	if b.src != nil {
		_ = b.src.Close() // it was only read
		b.src = nil
	}
}

func (b *blob) Read(p []byte) (int, error) {
	if b.err == nil && (b.src == nil || b.at != b.off) {
		b.err = b.open()
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	b.off, b.at = b.off+int64(n), b.at+int64(n)
	switch {
	case err == nil:
	case err != io.EOF:
		b.err = err
	case b.off < b.attrs.Size:
		b.err = fault.New(fault.Transport, b.file.Base64(), "the store sent fewer bytes than announced")
		err = b.err
	}
	return n, err
}

// Seek sets the offset of the next Read.
func (b *blob) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += b.off
	case io.SeekEnd:
		off += b.attrs.Size
	}
	if off < 0 {
		return b.off, errors.New("seek to a negative offset")
	}
	b.off = off
	return off, nil
}
