package send

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// Config configures a Remote.
type Config struct {
	URL, Token string
	Project    string
	Labels     map[string]string
	Wait       time.Duration // for files that the server assembles behind its answer; zero: not at all
	Parallel   int           // requests at a time

	RetryWait time.Duration     // before the first retry of a request
	Transport http.RoundTripper // nil: connections over the network
}

// A State is the outcome of a file.
type State string

// The states.
const (
	Uploaded State = "uploaded"
	Known    State = "known"   // the server had it
	Pending  State = "pending" // the server has all of it, and is still checking it
	Refused  State = "refused"
)

// An Outcome is the outcome for one file.
type Outcome struct {
	File   *File
	State  State
	Detail string // the server's reason to refuse it
	Sent   int64  // bytes of chunks, before compression
}

// A Remote uploads files to a server. It belongs to one goroutine.
type Remote struct {
	Done     func(Outcome)           // is called for each file
	Progress func(done, total int64) // reports bytes of chunks, one call at a time
	Retrying func(why error)         // reports a failure that may pass, one call at a time

	mu     sync.Mutex
	cfg    Config
	base   *url.URL
	http   http.Client
	limits *limits // nil: not asked for yet
	batch  []*File
	held   int64 // bytes of the batch
}

const (
	small    = 1 << 20          // bytes of files that are sent together, from memory
	maxHeld  = 16 << 20         // bytes of a batch
	maxBatch = 256              // files of a batch
	maxGroup = 8 << 20          // bytes of chunks in a request, or one chunk: its compressed form is in memory
	maxSends = 3                // of the chunks that the server lacks: it may find one damaged
	minPoll  = time.Second / 10 // between two questions for the state of a file
	maxPoll  = 5 * time.Second
)

// NewRemote returns a Remote. It makes no request.
func NewRemote(cfg Config) (*Remote, error) {
	u, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("invalid URL %q: must be the http or https address of a server", cfg.URL)
	}
	if cfg.Transport == nil {
		cfg.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: idleTime, MaxIdleConnsPerHost: cfg.Parallel}
	}
	return &Remote{
		Done: func(Outcome) {}, Progress: func(int64, int64) {}, Retrying: func(error) {}, cfg: cfg, base: u,
		http: http.Client{
			Transport:     cfg.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Add uploads a file, or keeps a copy of a small one for the next batch.
func (r *Remote) Add(ctx context.Context, f *File) error {
	if f.Size() > small {
		return r.send(ctx, []*File{f})
	}
	data, err := bin.Read(f.Source, 0, int(f.Size()))
	if errors.Is(err, bin.ErrShort) { // it was truncated since
		err = errChanged
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	kept := *f
	kept.Source = bin.Bytes(bytes.Clone(data))
	r.batch, r.held = append(r.batch, &kept), r.held+f.Size()
	if len(r.batch) < maxBatch && r.held < maxHeld {
		return nil
	}
	return r.Flush(ctx)
}

// Flush uploads the files that Add has kept.
func (r *Remote) Flush(ctx context.Context) error {
	batch := r.batch
	r.batch, r.held = nil, 0
	if len(batch) == 0 {
		return ctx.Err()
	}
	return r.send(ctx, batch)
}

// item is a file that is being uploaded.
type item struct {
	Outcome
	sum    ident.SHA1
	chunks []ident.SHA1
}

// piece is a chunk of a file.
type piece struct {
	sum       ident.SHA1
	file      *File
	off, size int64
}

// send uploads files: it asks for their states, sends the chunks that the server lacks,
// and asks again until no state is open.
func (r *Remote) send(ctx context.Context, batch []*File) (err error) {
	if r.limits == nil {
		if r.limits, err = r.getLimits(ctx); err != nil {
			return err
		}
	}
	if batch = r.refuseLarge(batch); len(batch) == 0 {
		return nil
	}
	items, pieces, err := r.hash(ctx, batch)
	if err != nil {
		return err
	}
	open, sends := items, 0
	for waited, wait := time.Duration(0), minPoll; ; {
		var missing []piece
		if open, missing, err = r.ask(ctx, open, pieces); err != nil {
			return err
		}
		switch {
		case len(missing) > 0 && sends == maxSends:
			return errors.New("the server has lost chunks of an upload; try again")
		case len(missing) > 0:
			if err := r.sendPieces(ctx, missing); err != nil {
				return err
			}
			sends++
			continue
		}
		if len(open) == 0 || waited >= r.cfg.Wait {
			break
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		waited, wait = waited+wait, min(2*wait, maxPoll)
	}
	for _, it := range items {
		r.Done(it.Outcome)
	}
	return nil
}

// refuseLarge returns the files that are not larger than the server takes.
func (r *Remote) refuseLarge(batch []*File) (rest []*File) {
	for _, f := range batch {
		if most := r.limits.MaxFileSize; most > 0 && f.Size() > most {
			r.Done(Outcome{File: f, State: Refused, Detail: fmt.Sprintf("the file has more than %v, the server's limit uploads.max_file", bin.Size(most))})
			continue
		}
		rest = append(rest, f)
	}
	return rest
}

// hash returns the files with the sums of their chunks, and the chunks by their sums.
func (r *Remote) hash(ctx context.Context, batch []*File) (items []*item, pieces map[ident.SHA1]piece, err error) {
	pieces = map[ident.SHA1]piece{}
	buf := make([]byte, 256<<10)
	for _, f := range batch {
		it := &item{Outcome: Outcome{File: f}}
		all := sha1.New()
		for off := int64(0); off < f.Size(); off += r.limits.ChunkSize {
			one := sha1.New()
			size := min(r.limits.ChunkSize, f.Size()-off)
			if _, err := io.CopyBuffer(io.MultiWriter(all, one), io.NewSectionReader(f, off, size), buf); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			sum := ident.SHA1(one.Sum(nil))
			it.chunks = append(it.chunks, sum)
			pieces[sum] = piece{sum, f, off, size}
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
		}
		it.sum = ident.SHA1(all.Sum(nil))
		items = append(items, it)
	}
	return items, pieces, nil
}

// ask sets the states of files. It returns those whose state is open, and the chunks
// that the server lacks.
func (r *Remote) ask(ctx context.Context, items []*item, pieces map[ident.SHA1]piece) (open []*item, missing []piece, err error) {
	states, err := r.assemble(ctx, items)
	if err != nil {
		return nil, nil, err
	}
	isMissing := map[ident.SHA1]bool{}
	for _, it := range items {
		s, ok := states[it.sum]
		switch {
		case !ok:
			return nil, nil, errors.New("the answer of the server lacks a file")
		case s.State == stateError:
			it.State, it.Detail = Refused, strings.TrimPrefix(s.Detail, it.File.Name()+": ")
		case s.State == stateOK && it.State == "":
			it.State = Known
		case s.State == stateOK:
			it.State = Uploaded
		default:
			it.State = Pending
			open = append(open, it)
		}
		for _, sum := range s.Missing {
			p, ok := pieces[sum]
			if !ok {
				return nil, nil, fmt.Errorf("the server asks for the unknown chunk %s", sum)
			}
			it.Sent += p.size
			if !isMissing[sum] {
				isMissing[sum] = true
				missing = append(missing, p)
			}
		}
	}
	return open, missing, nil
}

// sendPieces sends chunks, in concurrent requests.
func (r *Remote) sendPieces(ctx context.Context, list []piece) error {
	var total, done int64
	for i := range list {
		total += list[i].size
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	limit := min(maxGroup, r.limits.MaxRequestSize)
	slots := make(chan struct{}, max(1, min(r.cfg.Parallel, r.limits.Concurrency)))
	for len(list) > 0 && ctx.Err() == nil {
		n, size := 1, list[0].size
		for ; n < min(len(list), r.limits.ChunksPerRequest) && size+list[n].size <= limit; n++ {
			size += list[n].size
		}
		group := list[:n]
		list = list[n:]
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := r.sendGroup(ctx, group); err != nil {
				fail(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			done += size
			r.Progress(done, total)
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
