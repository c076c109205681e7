// Package missing counts the modules that clients asked for and no source had, so
// that an operator sees which symbols to upload, or which source to add.
//
// Counts are kept in memory for an hour, and then written to the bucket of the state,
// as one blob for each process and hour. Readers merge the blobs of all processes with
// the counts in memory. Blobs are removed after 30 days. Counts of an hour are lost
// if a process is killed.
//
// Names and ids come from requests: an hour has at most 20,000 rows, in which names have
// at most 150 characters. If there are more, the least requested ones are dropped.
//
// # Bucket
//
// The key missing/HOUR/PROCESS has a JSON array of rows. HOUR is the beginning of the
// hour, such as 2026-11-23T16, and PROCESS is random.
package missing

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	prefix    = "missing/"
	hourForm  = "2006-01-02T15"
	maxRows   = 20_000
	maxMerged = 100_000
	maxName   = 150
	maxBlob   = 32 << 20
	keep      = 30 * 24 * time.Hour
	writeTime = 10 * time.Second // for the last hour, when the process ends
)

// A Client is where requests come from.
type Client struct {
	Door    string `json:"interface"`         // "mozilla", "debuginfod"
	Product string `json:"product,omitempty"` // by the User-Agent: "FirefoxProfiler"
	Project string `json:"project,omitempty"`
}

// A Row is a missing module.
type Row struct {
	DebugFile string `json:"debug_file,omitempty"`
	DebugID   string `json:"debug_id,omitempty"` // in the form of Breakpad
	CodeFile  string `json:"code_file,omitempty"`
	CodeID    string `json:"code_id,omitempty"`
	Client
	Reason string    `json:"reason,omitempty"` // of the last request
	Count  int64     `json:"count"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
}

// key identifies a row.
type key struct {
	debugFile, debugID, codeFile, codeID string
	Client
}

func (r *Row) key() key {
	return key{r.DebugFile, r.DebugID, r.CodeFile, r.CodeID, r.Client}
}

// Module returns the identifiers of the row.
func (r *Row) Module() ident.Module {
	m := ident.Module{DebugFile: r.DebugFile, CodeFile: r.CodeFile, CodeID: ident.ParseCodeID(r.CodeID)}
	m.DebugID, _ = ident.ParseBreakpadID(r.DebugID) // empty without one
	return m
}

// A Log counts the modules of one process. New creates it. It is safe for concurrent
// use.
type Log struct {
	bucket  bucket.Bucket
	process string
	now     func() time.Time
	log     *slog.Logger

	mu   sync.Mutex
	hour string
	rows map[key]*Row
}

// New returns a Log over the bucket of the state.
func New(b bucket.Bucket, now func() time.Time, log *slog.Logger) *Log {
	return &Log{bucket: b, process: strings.ToLower(rand.Text()), now: now, log: log, hour: hourOf(now()), rows: map[key]*Row{}}
}

func hourOf(t time.Time) string { return t.UTC().Format(hourForm) }

// Note counts a module that was not found. Modules without an id do not count.
func (l *Log) Note(from Client, m ident.Module, reason string) {
	if m.DebugID.IsZero() && m.CodeID.IsZero() {
		return
	}
	now := l.now().UTC().Truncate(time.Second)
	r := Row{
		DebugFile: short(m.DebugFile), CodeFile: short(m.CodeFile), CodeID: m.CodeID.String(),
		Client: from, Reason: short(reason), Count: 1, First: now, Last: now,
	}
	if !m.DebugID.IsZero() {
		r.DebugID = m.DebugID.Breakpad()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	add(l.rows, &r, maxRows)
}

// short returns the beginning of a text from a request.
func short(text string) string {
	if len(text) <= maxName {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:maxName], "")
}

// add counts the requests of a row. With more than limit rows, it drops the least
// requested half.
func add(rows map[key]*Row, r *Row, limit int) {
	if has := rows[r.key()]; has != nil {
		has.Count += r.Count
		if has.First.After(r.First) {
			has.First = r.First
		}
		if !r.Last.Before(has.Last) {
			has.Last, has.Reason = r.Last, r.Reason
		}
		return
	}
	if len(rows) >= limit {
		for _, x := range sorted(rows)[limit/2:] {
			delete(rows, x.key())
		}
	}
	kept := *r
	rows[r.key()] = &kept
}

// sorted returns the rows, the most requested ones first.
func sorted(rows map[key]*Row) []*Row {
	return slices.SortedFunc(maps.Values(rows), func(a, b *Row) int {
		if n := cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(a.DebugFile, b.DebugFile)); n != 0 {
			return n // as nearly always: the rest is not compared
		}
		return cmp.Or(cmp.Compare(a.DebugID, b.DebugID), cmp.Compare(a.CodeFile, b.CodeFile), cmp.Compare(a.CodeID, b.CodeID), cmp.Compare(a.Door, b.Door), cmp.Compare(a.Product, b.Product))
	})
}

// Run writes the counts of each hour to the bucket until ctx ends, and then the counts of
// the last hour.
func (l *Log) Run(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
			defer cancel()
			l.write(ctx, "")
			return
		case <-tick.C:
			l.write(ctx, hourOf(l.now()))
		}
	}
}

// write writes the counts of the last hour unless it is still now, and removes old
// blobs. If it fails, the counts are kept for the next hour.
func (l *Log) write(ctx context.Context, now string) {
	l.mu.Lock()
	hour, rows := l.hour, l.rows
	if hour == now {
		l.mu.Unlock()
		return
	}
	l.hour, l.rows = now, map[key]*Row{}
	l.mu.Unlock()
	if len(rows) > 0 {
		text, err := json.Marshal(sorted(rows))
		if err == nil {
			_, err = l.bucket.Put(ctx, prefix+hour+"/"+l.process, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: true})
		}
		if err != nil {
			l.log.Warn("cannot write the counts of missing symbols; they are kept in memory", "error", err)
			l.mu.Lock()
			for _, r := range rows {
				add(l.rows, r, maxRows)
			}
			l.mu.Unlock()
			return
		}
	}
	if err := l.removeOld(ctx); err != nil && ctx.Err() == nil {
		l.log.Warn("cannot remove old counts of missing symbols", "error", err)
	}
}

// removeOld removes blobs whose hour has long passed.
func (l *Log) removeOld(ctx context.Context) error {
	end := prefix + hourOf(l.now().Add(-keep))
	for k, err := range bucket.Keys(ctx, l.bucket, prefix, "") {
		if err == nil && k < end {
			err = l.bucket.Delete(ctx, k)
		}
		if err != nil || k >= end {
			return err
		}
	}
	return nil
}

// A Report collects the missing modules.
type Report struct {
	Rows  []*Row           // those that were asked for most first
	Hours map[string]int64 // requests by hour, such as 2026-11-23T16
}

// Rows returns the modules of all processes that were requested since a time, the most
// requested ones first. Counts have whole hours.
func (l *Log) Rows(ctx context.Context, since time.Time) ([]*Row, error) {
	r, err := l.Report(ctx, since, func(*Row) bool { return true })
	return r.Rows, err
}

// Report returns the rows of Rows that are wanted, and their requests by hour.
func (l *Log) Report(ctx context.Context, since time.Time, isWanted func(*Row) bool) (Report, error) {
	all, hours := map[key]*Row{}, map[string]int64{}
	merge := func(hour string, r *Row) {
		if isWanted(r) {
			add(all, r, maxMerged)
			hours[hour] += r.Count
		}
	}
	l.mu.Lock()
	for _, r := range l.rows {
		merge(l.hour, r)
	}
	own := prefix + l.hour + "/" + l.process // may be written meanwhile
	l.mu.Unlock()
	first := prefix + hourOf(since)
	for k, err := range bucket.Keys(ctx, l.bucket, prefix, "") {
		if err != nil {
			return Report{}, err
		}
		if k < first || k == own {
			continue
		}
		rows, err := l.read(ctx, k)
		if err != nil {
			return Report{}, err
		}
		hour, _, _ := strings.Cut(strings.TrimPrefix(k, prefix), "/")
		for i := range rows {
			merge(hour, &rows[i])
		}
	}
	return Report{sorted(all), hours}, nil
}

// PerHour returns the requests of each hour from one that has a time until now.
func (r *Report) PerHour(since, now time.Time) []float64 {
	var list []float64
	for t := since.UTC().Truncate(time.Hour); !t.After(now); t = t.Add(time.Hour) {
		list = append(list, float64(r.Hours[hourOf(t)]))
	}
	return list
}

// read returns the rows of a blob.
func (l *Log) read(ctx context.Context, k string) (rows []Row, err error) {
	body, a, err := l.bucket.Get(ctx, k, 0, maxBlob)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil // removed meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return nil, err
	case a.Size > maxBlob || json.Unmarshal(text, &rows) != nil:
		l.log.Warn("cannot read the counts of missing symbols of an hour", "key", k)
		return nil, nil
	}
	return rows, nil
}
