package difs

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

const (
	maxJobs   = 4 * maxFiles     // that wait, run or have ended
	failLife  = 10 * time.Minute // of the reason why a file was refused
	maxActive = 4                // files that are assembled at the same time
)

// order is a request to assemble files into one upload.
type order struct {
	project, holder string
	draft           *store.Draft // closed by run; without one it has received nothing
	since           time.Time    // the beginning of the request
}

// job is a file that is being assembled, or was.
type job struct {
	part  part
	done  chan struct{} // closed at the end
	state state         // valid at the end
	err   error         // likewise: why the store failed
	ended time.Time     // zero: it waits or runs
}

// wait returns the state of the job, which is assembling if ctx ends first.
func (j *job) wait(ctx context.Context) (state, error) {
	select {
	case <-j.done:
		return j.state, j.err
	case <-ctx.Done():
		return state{State: stateAssembling}, nil
	}
}

// jobKey names a job: a file of a project is assembled once, whatever the number of
// requests for it.
type jobKey struct {
	project string
	sum     ident.SHA1
}

// assembler makes uploads in the background.
type assembler struct {
	store *store.Store
	now   func() time.Time
	log   *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	active chan struct{}
	wg     sync.WaitGroup

	mu   sync.Mutex
	jobs map[jobKey]*job
}

func (a *assembler) start(s *store.Store, now func() time.Time, log *slog.Logger) {
	a.store, a.now, a.log, a.jobs = s, now, log, map[jobKey]*job{}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.active = make(chan struct{}, min(maxActive, runtime.GOMAXPROCS(0)))
}

func (a *assembler) stop() {
	a.cancel()
	a.wg.Wait()
}

// runs reports whether a file is being assembled, or was refused.
func (a *assembler) runs(o *order, p *part) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.find(o, p) != nil
}

// find returns the job for a file, if its result is valid for an order: the result of a
// refused file is valid for a while, others for requests that began before the job ended.
// The caller holds mu.
func (a *assembler) find(o *order, p *part) *job {
	j := a.jobs[jobKey{o.project, p.sum}]
	switch {
	case j == nil || !slices.Equal(j.part.chunks, p.chunks):
	case j.ended.IsZero(), !j.ended.Before(o.since), j.state.State == stateError && a.now().Sub(j.ended) < failLife:
		return j
	}
	return nil
}

// begin returns the jobs for the parts whose state is assembling. Those that have
// none yet become one upload.
func (a *assembler) begin(o *order, parts []part, states []state) (jobs []*job, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	jobs = make([]*job, len(parts))
	var fresh []*job
	for i := range parts {
		if states[i].State != stateAssembling {
			continue
		}
		if jobs[i] = a.find(o, &parts[i]); jobs[i] == nil {
			jobs[i] = &job{part: parts[i], done: make(chan struct{})}
			fresh = append(fresh, jobs[i])
		}
	}
	if len(fresh) == 0 {
		return jobs, nil
	}
	if len(a.jobs)+len(fresh) > maxJobs {
		for key, j := range a.jobs {
			if !j.ended.IsZero() {
				delete(a.jobs, key)
			}
		}
	}
	if len(a.jobs)+len(fresh) > maxJobs || a.ctx.Err() != nil {
		return nil, api.Refuse(http.StatusServiceUnavailable, "too many files are being assembled; try again")
	}
	for _, j := range fresh {
		a.jobs[jobKey{o.project, j.part.sum}] = j
	}
	a.wg.Go(func() { a.run(o, fresh) })
	return jobs, nil
}

// run makes an upload of the files that are not refused.
func (a *assembler) run(o *order, jobs []*job) {
	records := make([]*store.Record, len(jobs))
	_ = bucket.Each(len(jobs), func(i int) error { // each job has its own error
		select {
		case a.active <- struct{}{}:
			records[i], jobs[i].err = a.add(o, &jobs[i].part)
			<-a.active
		case <-a.ctx.Done():
			jobs[i].err = a.ctx.Err()
		}
		return nil
	})
	var upload *store.Upload
	var err error
	files := map[ident.SHA256]*store.UploadedFile{}
	if slices.ContainsFunc(jobs, func(j *job) bool { return j.err == nil }) {
		if upload, err = o.draft.Commit(a.ctx); err == nil {
			for i := range upload.Files {
				files[upload.Files[i].SHA256] = &upload.Files[i]
			}
		}
	}
	if bucket.IsFull(err) || slices.ContainsFunc(jobs, func(j *job) bool { return bucket.IsFull(j.err) }) {
		_ = a.store.RemoveChunks(a.ctx, o.holder) // else they expire
	}
	o.draft.Close()
	for i, j := range jobs {
		switch {
		case fault.KindOf(j.err) == fault.NotFound: // to be sent again
			j.state.State = stateMissing
			j.state.Missing, j.err = a.store.MissingChunks(a.ctx, o.holder, j.part.chunks)
		case j.err != nil:
		case err != nil:
			j.err = err
		default:
			j.state = state{State: stateOK, DIF: describeAll(upload, files[records[i].SHA256], records[i])[0]}
		}
		a.end(jobKey{o.project, j.part.sum}, j)
	}
}

// end ends a job. One that failed because of the store is tried again.
func (a *assembler) end(key jobKey, j *job) {
	defer close(j.done)
	a.mu.Lock()
	defer a.mu.Unlock()
	j.ended = a.now()
	var own *api.Refusal
	var stored *store.Refusal
	switch {
	case errors.As(j.err, &stored):
		own = api.Invalid("%s", stored.Error())
	case errors.As(j.err, &own):
	case j.err != nil:
		if a.jobs[key] == j {
			delete(a.jobs, key)
		}
		if bucket.IsFull(j.err) { // as an error of the request, clients would repeat it at once
			a.log.Error("cannot store a debug file", "name", j.part.name, "error", j.err)
			own = &api.Refusal{Text: api.Full}
		}
	}
	if own != nil {
		j.state, j.err = state{State: stateError, Detail: &own.Text}, nil
		a.log.Info("refused a debug file", "name", j.part.name, "sha1", j.part.sum, "reason", own.Text)
	}
}

// add adds a file to an upload. The error is a refusal for a file that must change, and
// NotFound for one whose chunks are not here any more.
func (a *assembler) add(o *order, p *part) (*store.Record, error) {
	if p.known != nil {
		return p.known.Record, o.draft.Reuse(p.known, p.name)
	}
	src := a.store.OpenChunks(a.ctx, o.holder, p.chunks)
	defer func() { _ = src.Close() }() // it was only read
	record, err := addFile(a.ctx, o.draft, p, src)
	if errors.Is(err, store.ErrSum) {
		if err := a.store.CheckChunks(a.ctx, o.holder, p.chunks); err != nil {
			return nil, err
		}
		return nil, api.Invalid("Reported checksum mismatch: the chunks together have another SHA-1; " +
			"check that the file did not change during the upload, and send it again")
	}
	return record, err
}
