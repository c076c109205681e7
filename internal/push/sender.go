package push

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/transfer"
)

const (
	maxAttempts   = 5
	maxRetryWait  = time.Minute
	maxRetryAfter = 2 * time.Minute // the longest wait that a server may request
	queryTimeout  = time.Minute
	maxResponse   = 64 << 10
)

// sender sends the parts of files to a server.
type sender struct {
	cfg      Config
	warn     func(text string)
	progress progress
	client   *http.Client
	url      string // without a final slash; empty: nothing is sent
	key      string // encoded
	secrets  []string
	journals string // the folder of journals
}

func newSender(cfg Config, events Events) (*sender, error) {
	s := &sender{cfg: cfg, warn: events.Warn, progress: progress{report: events.Progress}, key: cfg.Key}
	if strings.Contains(s.key, ":") {
		s.key = base64.StdEncoding.EncodeToString([]byte(s.key))
	}
	s.secrets = []string{cfg.Key, s.key, url.QueryEscape(s.key)}
	if pair, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s.key, "=")); err == nil {
		if _, secret, ok := strings.Cut(string(pair), ":"); ok && len(secret) > 3 {
			s.secrets = append(s.secrets, string(pair), secret)
		}
	}
	if cfg.URL == "" {
		return s, nil
	}
	if err := checkURL(cfg.URL); err != nil {
		return nil, errors.New(s.redact(err.Error()))
	}
	s.url = strings.TrimRight(cfg.URL, "/")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = cfg.Parallel
	s.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // another server must not get the key
	}
	if !cfg.DryRun {
		s.journals = openJournals(time.Now())
	}
	return s, nil
}

// checkURL returns an error if text is not the URL of a server. The error repeats
// it only if it cannot contain credentials.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case !strings.Contains(text, "://") && !strings.Contains(text, "@"):
		return fmt.Errorf("--url %s has no scheme; did you mean https://%s?", text, text)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("--url must start with http:// or https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("--url must not contain credentials, a query or a fragment; name the key with --api-key")
	}
	return nil
}

// redact replaces the key in a text, which may repeat what a server sent.
func (s *sender) redact(text string) string {
	for _, secret := range s.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[key]")
		}
	}
	return text
}

// send sends the contents of x that the server does not have.
func (s *sender) send(ctx context.Context, x *image) (*Result, error) {
	r := &Result{File: x.name, Status: Sent, FileID: x.id.Base64(), BuildID: x.build.String()}
	contents, isOurs, err := s.query(ctx, x)
	if err != nil {
		return nil, err
	}
	isKnown := func(set *partSet) bool { return !s.cfg.Force && contents[set.kind] == set.contentText() }
	r.Ranges, r.Pads = x.sets[0].describe(isKnown(x.sets[0])), x.sets[1].describe(isKnown(x.sets[1]))
	for _, set := range x.sets {
		if !isKnown(set) {
			s.progress.expect(set.size)
		}
	}
	for _, set := range x.sets {
		switch {
		case isKnown(set):
		case s.cfg.DryRun:
			r.Bytes += set.size
		default:
			sent, isResumed, err := s.sendSet(ctx, x, set, s.cfg.Force)
			if err == nil && isResumed && isOurs {
				sent, err = s.confirm(ctx, x, set, sent)
			}
			r.Bytes += sent
			if err != nil {
				return nil, err
			}
		}
	}
	switch {
	case r.Ranges.Known && r.Pads.Known:
		r.Status = Known
	case s.cfg.DryRun:
		r.Status = DryRun
	}
	return r, nil
}

// confirm sends all parts of a resumed set if the server does not report its
// content: it may have lost the parts of the push before.
func (s *sender) confirm(ctx context.Context, x *image, set *partSet, sent int64) (int64, error) {
	contents, isOurs, err := s.query(ctx, x)
	if err != nil || !isOurs || contents[set.kind] == set.contentText() {
		return sent, err
	}
	s.progress.expect(set.size)
	more, _, err := s.sendSet(ctx, x, set, true)
	return sent + more, err
}

// query asks the server which contents of a file it has, by kind. isOurs is false
// if the server does not know the request, as others than Symbolon do not.
func (s *sender) query(ctx context.Context, x *image) (contents map[string]string, isOurs bool, err error) {
	if s.url == "" {
		return nil, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, s.url+"/api/symbols/"+x.id.Base64(), nil)
	if err != nil {
		return nil, false, err
	}
	s.sign(req)
	r, err := s.client.Do(req)
	if err != nil { // the first part fails with the same error
		return nil, false, context.Cause(ctx)
	}
	defer r.Body.Close()
	var a struct {
		Error  json.RawMessage           `json:"error"`
		File   string                    `json:"fileid"`
		Ranges *struct{ Content string } `json:"ranges"`
		Pads   *struct{ Content string } `json:"returnpads"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse))
	if err != nil || json.Unmarshal(body, &a) != nil {
		return nil, false, context.Cause(ctx)
	}
	if r.StatusCode == http.StatusNotFound {
		return nil, a.Error != nil, nil
	}
	if r.StatusCode != http.StatusOK || a.File != x.id.Base64() {
		return nil, false, nil
	}
	contents = map[string]string{}
	if a.Ranges != nil {
		contents["ranges"] = a.Ranges.Content
	}
	if a.Pads != nil {
		contents["returnpads"] = a.Pads.Content
	}
	return contents, true, nil
}

// sign adds the key to a request.
func (s *sender) sign(req *http.Request) {
	req.Header.Set("User-Agent", "symbolon")
	if s.key != "" {
		req.Header.Set("Authorization", "ApiKey "+s.key)
	}
}

// sendSet sends the parts of a set that the journal does not have. isResumed is
// true if it has any. With isFresh the journal is ignored.
func (s *sender) sendSet(ctx context.Context, x *image, set *partSet, isFresh bool) (sent int64, isResumed bool, err error) {
	j := openJournal(s.journals, len(set.parts), time.Now(), isFresh, s.url, s.key, x.id.Hex(), set.kind, set.contentText())
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		slots  = make(chan struct{}, s.cfg.Parallel)
		upload = j.upload(set.content[:])
	)
	for n := range set.parts {
		if j.has(n) {
			isResumed = true
			s.progress.add(set.parts[n].size)
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := s.sendPart(ctx, x, set, n, upload); err != nil {
				fail(fmt.Errorf("%s, part %d of %d: %w", set.kind, n, len(set.parts), err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			sent += set.parts[n].size
			s.progress.add(set.parts[n].size)
			if err := j.add(n, time.Now()); err != nil {
				s.warn(fmt.Sprintf("write the journal of the push: %v", err))
				j.path = ""
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return sent, isResumed, context.Cause(ctx)
	}
	j.remove()
	return sent, isResumed, nil
}

// sendPart sends a part, and retries transient failures.
func (s *sender) sendPart(ctx context.Context, x *image, set *partSet, n int, upload string) error {
	backoff := transfer.Backoff{First: s.cfg.RetryWait, Max: maxRetryWait, MaxAfter: maxRetryAfter}
	for attempt := 1; ; attempt++ {
		err := s.post(ctx, x, set, n, upload)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var refused *refusal
		after := time.Duration(0)
		if errors.As(err, &refused) {
			if !refused.isTransient() {
				return err
			}
			after = min(refused.after, maxRetryAfter)
		} else if text, again := transfer.Reason(err); !again {
			return fmt.Errorf("connect to the server: %s", text)
		}
		if attempt == maxAttempts {
			return fmt.Errorf("tried %s: %w", console.Count(attempt, "time"), err)
		}
		if !backoff.Wait(ctx, attempt, after) {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
}

// post sends a part once.
func (s *sender) post(ctx context.Context, x *image, set *partSet, n int, upload string) error {
	ctx, guard := transfer.NewGuard(ctx, stallTimeout)
	defer guard.Close()
	guard.Start()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/"+set.route, guard.Reader(set.body(n)))
	if err != nil {
		return err
	}
	req.ContentLength = set.parts[n].size
	s.sign(req)
	for name, value := range map[string]string{
		"Content-Type": "application/octet-stream",
		"FileID":       x.id.Base64(), "FilePart": strconv.Itoa(n), "FileParts": strconv.Itoa(len(set.parts)),
		"Symbolon-Upload": upload, "Symbolon-Build-ID": x.build.String(), "Symbolon-Image-Base": fmt.Sprintf("%#x", x.base),
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	r, err := s.client.Do(req)
	if err != nil {
		return stallCause(ctx, err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse))
	if err != nil {
		return stallCause(ctx, err)
	}
	if refused := parseRefusal(r, body); refused != nil {
		return refused
	}
	return nil
}
