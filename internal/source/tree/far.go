package tree

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

// Deps are the dependencies of a source in an object store.
type Deps struct {
	Bucket  bucket.Bucket
	Host    string // of the store
	Decoder *source.Decoder
	Timeout time.Duration                                         // for one file with its retries; zero: no limit
	Line    func(ctx context.Context) (release func(), err error) // where downloads wait for a slot
	Ahead   *source.Ahead                                         // memory for large files
	Shelf   *source.Shelf                                         // caches the index
	Guarded bool                                                  // a request named it
	Now     func() time.Time
}

// Far returns a source of a bucket in an object store, whose root is the prefix of
// cfg.
func Far(cfg source.Config, d Deps) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.Defaults()
	s := &Source{
		cfg: cfg, bucket: d.Bucket, decoder: d.Decoder, now: d.Now, label: cfg.ID, place: place(cfg),
		far: &d,
	}
	if d.Guarded {
		s.label = source.RequestLabel
	}
	s.key = s.identity()
	s.index = source.NewIndex(cfg, d.Shelf, s.read)
	return s, nil
}

// place returns the address of the root, for people.
func place(cfg source.Config) string {
	scheme := map[string]string{source.S3: "s3://", source.GCS: "gs://"}[cfg.Type]
	prefix := strings.Trim(cfg.Prefix, "/")
	if prefix != "" {
		prefix = transfer.EscapePath(prefix) + "/"
	}
	return scheme + transfer.EscapePath(cfg.Bucket) + "/" + prefix
}

// identity returns a text with the store, the bucket, the credentials, and whether
// a request named the source: files that only the configuration can reach are not
// used for requests.
func (s *Source) identity() string {
	c := s.cfg
	key := fmt.Sprintf("%s endpoint=%q region=%q provider=%q", s.place,
		c.Region.Endpoint()+c.URL.String(), c.Region.Name(), c.Provider+c.GoogleProvider)
	if id := source.CredentialID(c.AccessKey, c.SecretKey, c.SessionToken, bin.NewSecret(c.ClientEmail), c.PrivateKey, c.BearerToken); id != "" {
		key += " credentials=" + id
	}
	if s.far.Guarded {
		key += " guarded"
	}
	return key + " "
}

// fetchFar gets the file of c from an object store, within its time.
func (s *Source) fetchFar(caller context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	ctx := caller
	if s.far.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(caller, s.far.Timeout, transfer.Overdue(s.far.Timeout))
		defer cancel()
	}
	a, err := s.ask(ctx, c, w)
	if err != nil && ctx.Err() != nil && caller.Err() == nil {
		err = fault.New(fault.Timeout, a.URL, "%w", context.Cause(ctx))
	}
	return a, err
}

// ask asks an object store for the file of c.
func (s *Source) ask(ctx context.Context, c source.Candidate, w io.Writer) (a source.Attempt, err error) {
	a.URL = s.location(c.Path)
	if s.far.Line != nil {
		release, err := s.far.Line(ctx)
		if err != nil {
			return a, at(a.URL, err)
		}
		defer release()
	}
	first, attrs, err := s.bucket.Get(ctx, c.Path, 0, source.Piece)
	if err != nil {
		return a, at(a.URL, err)
	}
	a.Validator = attrs.Version
	if a.Validator != "" && a.Validator == c.Validator {
		a.Same = true
		_ = first.Close() // the bytes are not needed
		return a, nil
	}
	in := source.NewRanged(ctx, attrs.Size, s.far.Ahead, func(ctx context.Context, off, n int64) (io.ReadCloser, error) {
		if off == 0 && first != nil { // only the reader itself asks for the beginning
			have := first
			first = nil
			return have, nil
		}
		r, now, err := s.bucket.Get(ctx, c.Path, off, n)
		if err == nil && now.Size == attrs.Size && now.Version == attrs.Version {
			return r, nil
		}
		if err == nil {
			_ = r.Close() // it is of another file
			err = fault.New(fault.Transport, a.URL, "the file was replaced while it was read")
		}
		return nil, err
	})
	out, err := s.decoder.Decode(ctx, w, in, attrs.Encoding)
	_ = in.Close() // the file is complete or has failed by now
	if first != nil {
		_ = first.Close() // it is empty
	}
	a.Wire, a.Bytes, a.Retries = out.Wire, out.Bytes, in.Resumed()
	if err != nil {
		return a, at(a.URL, err)
	}
	return a, nil
}
