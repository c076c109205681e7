package push

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"symbolon/internal/console"
	"symbolon/internal/transfer"
)

const (
	pushTries    = 5
	pushPauseMax = time.Minute     // the longest wait before a retry
	pushAfterMax = 2 * time.Minute // the longest wait that a server may ask for
	pushStall    = 5 * time.Minute // without a byte, or an answer
	answerMax    = 64 << 10
)

// errKey is that the server does not know the key, or that it is for something
// else.
var errKey = errors.New("the server does not take this key")

// redact leaves the key out of a text.
func (c *Client) redact(text string) string {
	for _, secret := range c.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[key]")
		}
	}
	return text
}

// image sends what the server has not of a file.
func (c *Client) image(ctx context.Context, x *image) (*Result, error) {
	r := &Result{File: x.name, Status: "sent", FileID: x.id.Base64(), BuildID: x.build.String()}
	had, ours, err := c.ask(ctx, x)
	if err != nil {
		return nil, err
	}
	known := func(set *partSet) bool { return !c.cfg.Force && had[set.kind] == set.sum() }
	r.Ranges, r.Pads = x.sets[0].pushed(known(x.sets[0])), x.sets[1].pushed(known(x.sets[1]))
	for _, set := range x.sets {
		if !known(set) {
			c.progress.expect(set.size)
		}
	}
	for _, set := range x.sets {
		switch {
		case known(set):
		case c.cfg.DryRun:
			r.Bytes += set.size
		default:
			sent, resumed, err := c.set(ctx, x, set, c.cfg.Force)
			if err == nil && resumed && ours {
				sent, err = c.confirm(ctx, x, set, sent)
			}
			r.Bytes += sent
			if err != nil {
				return nil, err
			}
		}
	}
	switch {
	case r.Ranges.Known && r.Pads.Known:
		r.Status = "known"
	case c.cfg.DryRun:
		r.Status = "dry-run"
	}
	return r, nil
}

// confirm sends all of a set if the server has not got it, of which an earlier
// push had sent some: it may have forgotten that.
func (c *Client) confirm(ctx context.Context, x *image, set *partSet, sent int64) (int64, error) {
	has, ours, err := c.ask(ctx, x)
	if err != nil || !ours || has[set.kind] == set.sum() {
		return sent, err
	}
	c.progress.expect(set.size)
	more, _, err := c.set(ctx, x, set, true)
	return sent + more, err
}

// ask asks what the server has of a file: the contents by kind. It is not ours
// if it does not say that.
func (c *Client) ask(ctx context.Context, x *image) (has map[string]string, ours bool, err error) {
	if c.url == "" {
		return nil, false, nil
	}
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, c.url+"/api/symbols/"+x.id.Base64(), nil)
	if err != nil {
		return nil, false, err
	}
	c.sign(req)
	r, err := c.client.Do(req)
	if err != nil { // sending tells what is wrong
		return nil, false, context.Cause(ctx)
	}
	defer r.Body.Close()
	var a struct {
		Error  json.RawMessage           `json:"error"`
		File   string                    `json:"fileid"`
		Ranges *struct{ Content string } `json:"ranges"`
		Pads   *struct{ Content string } `json:"returnpads"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, answerMax))
	if err != nil || json.Unmarshal(body, &a) != nil {
		return nil, false, context.Cause(ctx)
	}
	if r.StatusCode == http.StatusNotFound {
		return nil, a.Error != nil, nil
	}
	if r.StatusCode != http.StatusOK || a.File != x.id.Base64() {
		return nil, false, nil
	}
	has = map[string]string{}
	if a.Ranges != nil {
		has["ranges"] = a.Ranges.Content
	}
	if a.Pads != nil {
		has["returnpads"] = a.Pads.Content
	}
	return has, true, nil
}

func (c *Client) sign(req *http.Request) {
	req.Header.Set("User-Agent", "symbolon")
	if c.key != "" {
		req.Header.Set("Authorization", "ApiKey "+c.key)
	}
}

// set sends the parts of a set that were not sent before. It is resumed if there
// were such.
func (c *Client) set(ctx context.Context, x *image, set *partSet, fresh bool) (sent int64, resumed bool, err error) {
	j := openJournal(c.journal, len(set.parts), time.Now(), fresh, c.url, c.key, x.id.Hex(), set.kind, set.sum())
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		slots  = make(chan struct{}, c.cfg.Parallel)
		upload = j.upload(set.content[:])
	)
	for n := range set.parts {
		if j.has(n) {
			resumed = true
			c.progress.add(set.parts[n].size)
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := c.part(ctx, x, set, n, upload); err != nil {
				fail(fmt.Errorf("%s, part %d of %d: %w", set.kind, n, len(set.parts), err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			sent += set.parts[n].size
			c.progress.add(set.parts[n].size)
			if err := j.add(n, time.Now()); err != nil {
				c.events.Warn(fmt.Sprintf("what was sent is not noted: %v", err))
				j.path = ""
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return sent, resumed, context.Cause(ctx)
	}
	j.end()
	return sent, resumed, nil
}

// part sends a part, and retries while that may help.
func (c *Client) part(ctx context.Context, x *image, set *partSet, n int, upload string) error {
	backoff := transfer.Backoff{First: 2 * c.cfg.RetryWait, Max: pushPauseMax, MaxAfter: pushAfterMax}
	for try := 1; ; try++ {
		err := c.try(ctx, x, set, n, upload)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var no *refusal
		after := time.Duration(0)
		if errors.As(err, &no) {
			if !no.passing() {
				return err
			}
			after = min(no.after, pushAfterMax)
		}
		if try == pushTries {
			return fmt.Errorf("tried %s: %w", console.Count(try, "time"), err)
		}
		if !backoff.Wait(ctx, try, after) {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
}

// try sends a part once.
func (c *Client) try(ctx context.Context, x *image, set *partSet, n int, upload string) error {
	ctx, guard := transfer.NewGuard(ctx, pushStall)
	defer guard.Close()
	guard.Start()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/api/"+set.door, guard.Reader(set.body(n)))
	if err != nil {
		return err
	}
	req.ContentLength = set.parts[n].size
	c.sign(req)
	for name, value := range map[string]string{
		"Content-Type": "application/octet-stream",
		"FileID":       x.id.Base64(), "FilePart": strconv.Itoa(n), "FileParts": strconv.Itoa(len(set.parts)),
		"Symbolon-Upload": upload, "Symbolon-Build-ID": x.build.String(), "Symbolon-Image-Base": fmt.Sprintf("%#x", x.base),
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	r, err := c.client.Do(req)
	if err != nil {
		return stalled(ctx, err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, answerMax))
	if err != nil {
		return stalled(ctx, err)
	}
	if no := refusedBy(r, body); no != nil {
		return no
	}
	return nil
}

// refusal is an answer that is no success.
type refusal struct {
	status     int
	code, text string
	uuid       string
	location   string
	after      time.Duration
	strange    bool // it says neither success nor failure
}

// refusedBy gives the refusal that an answer is, if it is one.
func refusedBy(r *http.Response, body []byte) *refusal {
	var a struct {
		Success bool   `json:"success"`
		UUID    string `json:"uuid"`
		Error   struct {
			Code any // a text, or with some a number
			Text string
		} `json:"error"`
		Status int `json:"status"`
	}
	known := json.Unmarshal(body, &a) == nil
	if r.StatusCode/100 == 2 && known && a.Success {
		return nil
	}
	no := &refusal{status: r.StatusCode, location: inLine(r.Header.Get("Location")), after: transfer.RetryAfter(r.Header.Get("Retry-After"), time.Now())}
	if known {
		no.text, no.uuid = inLine(a.Error.Text), inLine(a.UUID)
		if a.Error.Code != nil {
			no.code = inLine(fmt.Sprint(a.Error.Code))
		}
	}
	if no.status/100 == 2 {
		no.strange = no.code == "" && no.text == ""
		no.status = cmp.Or(a.Status, http.StatusInternalServerError)
	}
	return no
}

// inLine is what others said, as a part of a line.
func inLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 500 {
		text = strings.ToValidUTF8(text[:500], "") + "…"
	}
	return text
}

// passing says whether the same may be taken later.
func (r *refusal) passing() bool {
	return !r.strange && (r.status == http.StatusRequestTimeout || r.status == http.StatusTooManyRequests || r.status >= 500)
}

func (r *refusal) Unwrap() error {
	if r.status == http.StatusUnauthorized || r.status == http.StatusForbidden {
		return errKey
	}
	return nil
}

func (r *refusal) Error() string {
	if r.strange {
		return "the server's answer is none of this protocol: is the address right?"
	}
	text := fmt.Sprintf("the server answers %d %s", r.status, http.StatusText(r.status))
	if r.Unwrap() != nil {
		text = errKey.Error() + ": " + text
	}
	if r.code != "" {
		text += ", code " + r.code
	}
	if r.text != "" {
		text += ": " + r.text
	}
	if r.uuid != "" {
		text += " (uuid " + r.uuid + ")"
	}
	if r.status/100 == 3 && r.location != "" {
		text += ", and names " + r.location + ": if that is right, name it with --url"
	}
	return text
}
