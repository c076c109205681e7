package push

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"symbolon/internal/transfer"
)

// errKey is the error of a key that the server does not know, or that does not
// allow uploads.
var errKey = errors.New("the server rejects this key")

// refusal is a response that does not report success.
type refusal struct {
	status     int
	code, text string
	uuid       string
	location   string
	after      time.Duration
	isForeign  bool // it reports neither success nor failure
}

// parseRefusal returns the refusal in a response, or nil if it reports success.
func parseRefusal(r *http.Response, body []byte) *refusal {
	var a struct {
		Success bool   `json:"success"`
		UUID    string `json:"uuid"`
		Error   struct {
			Code any // a string, or a number on some servers
			Text string
		} `json:"error"`
		Status int `json:"status"`
	}
	isJSON := json.Unmarshal(body, &a) == nil
	if r.StatusCode/100 == 2 && isJSON && a.Success {
		return nil
	}
	f := &refusal{
		status: r.StatusCode, location: transfer.OneLine(r.Header.Get("Location")),
		after: transfer.RetryAfter(r.Header.Get("Retry-After"), time.Now()),
	}
	if isJSON {
		f.text, f.uuid = transfer.OneLine(a.Error.Text), transfer.OneLine(a.UUID)
		if a.Error.Code != nil {
			f.code = transfer.OneLine(fmt.Sprint(a.Error.Code))
		}
	} else if f.status/100 != 2 {
		f.text = transfer.PlainReason(r.Header, body)
	}
	if f.status/100 == 2 {
		f.isForeign = f.code == "" && f.text == ""
		f.status = cmp.Or(a.Status, http.StatusInternalServerError)
	}
	return f
}

// isTransient reports whether a retry may succeed.
func (f *refusal) isTransient() bool {
	return !f.isForeign && transfer.IsTransient(f.status)
}

// Unwrap returns errKey if the key is the reason.
func (f *refusal) Unwrap() error {
	if f.status == http.StatusUnauthorized || f.status == http.StatusForbidden {
		return errKey
	}
	return nil
}

func (f *refusal) Error() string {
	if f.isForeign {
		return "unexpected response: is --url the address of an upload endpoint?"
	}
	text := fmt.Sprintf("the server answers %d %s", f.status, http.StatusText(f.status))
	if f.Unwrap() != nil {
		text = errKey.Error() + ": " + text
	}
	if f.code != "" {
		text += ", code " + f.code
	}
	if f.text != "" {
		text += ": " + f.text
	}
	if f.uuid != "" {
		text += " (uuid " + f.uuid + ")"
	}
	if f.status/100 == 3 && f.location != "" {
		text += ", and redirects to " + f.location + ": if that is right, use it with --url"
	}
	return text
}
