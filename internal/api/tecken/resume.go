package tecken

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/transfer"
)

const (
	maxPartial  = 1000 // files that are being received
	partialLife = time.Hour
	incomplete  = http.StatusPermanentRedirect // of a resumable upload
)

// partial is a file that is received in several requests.
type partial struct {
	mu    sync.Mutex // held by the request that sends bytes, and for ever after the last one
	spool cache.Spool
	used  time.Time // guarded by Door.mu
}

// resume receives a part of a file of a session, from the first byte that is missing.
// After the last one the file is stored, as an upload of its own.
func (d *Door) resume(w http.ResponseWriter, r *http.Request) error {
	p, f, err := d.planned(r)
	if err != nil {
		return err
	}
	key := r.PathValue("session") + "/" + r.PathValue("n")
	part, err := d.partial(key)
	if err != nil {
		return err
	}
	if !part.mu.TryLock() {
		return api.Refuse(http.StatusServiceUnavailable, "another request sends the file; try again")
	}
	isDone := false
	defer func() {
		if isDone { // it stays locked, for requests that have found it meanwhile
			d.drop(key)
		} else {
			part.mu.Unlock()
		}
	}()
	first, last, size, ok := transfer.ContentRange(r.Header.Get("Content-Range"))
	isWhole := r.Header.Get("Content-Range") == ""
	body := io.Reader(r.Body)
	if ok {
		body = io.LimitReader(body, last-first+1)
	}
	switch {
	case size > int64(d.limits.MaxRequest):
		return api.Refuse(http.StatusRequestEntityTooLarge, "%.200q is larger than %v, the limit uploads.max_request", f.Key, d.limits.MaxRequest)
	case isWhole && part.spool.Size() == 0, ok && first == part.spool.Size() && last < size:
		in := &bin.ErrReader{R: body}
		if _, err := io.Copy(part.spool, in); in.Err != nil {
			return in.Err // the received bytes are kept
		} else if err != nil {
			return err
		}
	case isWhole, !ok && !strings.HasPrefix(r.Header.Get("Content-Range"), "bytes */"):
		return api.Invalid("invalid Content-Range %.80q", r.Header.Get("Content-Range"))
	}
	if n := part.spool.Size(); !isWhole && (!ok || n < size) {
		if n > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", n-1))
		}
		w.WriteHeader(incomplete)
		return nil
	}
	isDone = true
	sent, err := d.store(r, p, f, part.spool)
	if err == nil {
		api.WriteJSON(w, http.StatusOK, map[string]string{
			"name": f.Key, "size": strconv.FormatInt(part.spool.Size(), 10), "md5Hash": base64.StdEncoding.EncodeToString(sent),
		})
	}
	return err
}

// planned returns the session and the file of a request.
func (d *Door) planned(r *http.Request) (*plan, *planned, error) {
	unknown := api.Refuse(http.StatusNotFound, "the session is unknown or has expired: begin again at /upload/v2/")
	var sum ident.SHA1
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || sum.UnmarshalText([]byte(r.PathValue("session"))) != nil {
		return nil, nil, unknown
	}
	in := d.Store.OpenChunks(r.Context(), planHolder, []ident.SHA1{sum})
	defer func() { _ = in.Close() }() // it was only read
	text, err := io.ReadAll(in)
	p := &plan{}
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return nil, nil, unknown
	case err != nil:
		return nil, nil, err
	case sha1.Sum(text) != sum, json.Unmarshal(text, p) != nil, n < 0, n >= len(p.Files), p.Files[n].Size == nil, p.Files[n].check(int64(d.limits.MaxFile)) != "":
		return nil, nil, unknown
	}
	if isValid, err := d.Tokens.Holds(r.Context(), p.Token); err != nil || !isValid {
		if err == nil {
			err = api.Refuse(http.StatusForbidden, "the token of the session was revoked or has expired: begin again at /upload/v2/")
		}
		return nil, nil, err
	}
	return p, &p.Files[n], nil
}

// partial returns a file that is being received. Files that received nothing for an hour
// are removed.
func (d *Door) partial(key string) (*partial, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	for k, part := range d.partials {
		if k != key && now.Sub(part.used) > partialLife && part.mu.TryLock() {
			_ = part.spool.Close() // it is removed
			delete(d.partials, k)
		}
	}
	part := d.partials[key]
	if part == nil {
		if len(d.partials) >= maxPartial {
			return nil, api.Refuse(http.StatusServiceUnavailable, "too many files are being received; try again")
		}
		spool, err := d.Spool()
		if err != nil {
			return nil, err
		}
		part = &partial{spool: spool}
		d.partials[key] = part
	}
	part.used = now
	return part, nil
}

// drop removes a file that was received.
func (d *Door) drop(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if part := d.partials[key]; part != nil {
		_ = part.spool.Close()
		delete(d.partials, key)
	}
}

// store stores a file of a session, and returns the MD5 of the bytes that were sent.
func (d *Door) store(r *http.Request, p *plan, f *planned, spool cache.Spool) (sent []byte, err error) {
	if sent, err = f.verify(spool); err != nil {
		return nil, err
	}
	draft := d.Store.Begin(p.Project, p.Labels, p.Uploader)
	defer draft.Close()
	space := d.Space(r.Context())
	defer func() { _ = space.Close() }() // it is removed
	z := d.newZipped(r.Context(), draft, p.Project)
	err = receive.EachFile(spool, space, func(n int, name string, in io.Reader) error {
		if name == "" { // the file itself, compressed or not
			return z.add(n, f.Key, in)
		}
		return z.add(n, f.Key+"/"+name, in)
	})
	if err == nil {
		_, err = receive.Commit(context.WithoutCancel(r.Context()), draft)
	}
	return sent, err
}

// verify checks the size and the MD5 of a file, and returns the MD5 of the bytes that
// were sent.
func (f *planned) verify(spool cache.Spool) ([]byte, error) {
	sent, own := md5.New(), md5.New()
	var in io.Reader = io.TeeReader(io.NewSectionReader(spool, 0, spool.Size()), sent)
	head, err := bin.Read(spool, 0, int(min(spool.Size(), 2)))
	if err != nil {
		return nil, err
	}
	raw := in
	if f.isCompressed() && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, api.Invalid("%.200q is not gzip: %v", f.Key, err)
		}
	}
	n, err := io.Copy(own, io.LimitReader(in, *f.Size+1))
	if err == nil {
		_, err = io.Copy(io.Discard, raw)
	}
	switch {
	case err != nil:
		return nil, api.Invalid("cannot unpack %.200q: %v", f.Key, err)
	case n != *f.Size || hex.EncodeToString(own.Sum(nil)) != f.MD5:
		return nil, api.Invalid("%.200q has another size or MD5 than the session: send it again", f.Key)
	}
	return sent.Sum(nil), nil
}
