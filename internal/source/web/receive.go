package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

const maxCoding = 40 // bytes of the header Content-Encoding

// receive handles the answer of a request that was not redirected.
func (f *fetch) receive(total context.Context, by way, resp *http.Response) *failure {
	if resp.StatusCode == http.StatusNotModified && f.known != "" {
		discard(resp)
		f.attempt.Same, f.attempt.Validator = true, f.known
		return nil
	}
	if failed := verdict(f.attempt.URL, resp.StatusCode); failed != nil {
		failed.after = transfer.RetryAfter(resp.Header.Get("Retry-After"), f.client.now())
		discard(resp)
		if err := by.ctx.Err(); err != nil {
			// A server may answer a request that was canceled; that answer
			// does not count.
			return f.client.broken(f.caller, by.ctx, f.attempt.URL, err)
		}
		return failed
	}
	defer resp.Body.Close()
	if f.attempt.Validator = f.validator(resp.Header); f.known != "" && f.attempt.Validator == f.known {
		f.attempt.Same = true // the server does not support 304
		return nil
	}
	if most := f.client.cfg.MaxDownloadSize; most > 0 && resp.ContentLength > int64(most) {
		return &failure{Error: fault.New(fault.Malformed, f.attempt.URL, "larger than the limit of %v: %w", most, bin.ErrLimit)}
	}
	coding := codings(resp.Header)
	if strings.Trim(strings.ToLower(coding), "abcdefghijklmnopqrstuvwxyz0123456789-, ") != "" || len(coding) > maxCoding {
		return &failure{Error: fault.New(fault.Transport, f.attempt.URL, "Unsupported content encoding")}
	}
	f.links = resp.Header.Values("Link")
	in, done := f.body(total, by, resp)
	out, err := f.client.decoders[f.guarded].Decode(total, f.w, in, coding)
	f.attempt.Retries += done()
	f.attempt.Wire += out.Wire
	f.attempt.Bytes = out.Bytes
	if err == nil {
		return nil
	}
	if broke, ok := errors.AsType[lost](err); ok {
		return broke.failure
	}
	if gone := total.Err(); gone != nil && errors.Is(err, context.Cause(total)) { // while it waited for memory
		return f.client.broken(f.caller, total, f.attempt.URL, gone)
	}
	known := fault.Of(err)
	if errors.Is(err, io.ErrUnexpectedEOF) && endsWhereItEnds(resp) {
		return f.client.broken(f.caller, by.ctx, f.attempt.URL, io.ErrUnexpectedEOF)
	}
	return &failure{Error: &fault.Error{Kind: known.Kind, Place: f.attempt.URL, Detail: known.Detail, Status: known.Status, Cause: known.Cause}}
}

// endsWhereItEnds reports whether only the end of the connection marks the end of
// the body, so that truncation cannot be detected.
func endsWhereItEnds(resp *http.Response) bool {
	return resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.ProtoMajor == 1
}
