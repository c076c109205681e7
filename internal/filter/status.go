package filter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// StatusError is the error of an answer with a status other than 200.
type StatusError struct {
	Status int
	Reason string
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %q", e.Status, e.Reason) }

// IsRefusal reports whether the request was refused because of its content.
func (e *StatusError) IsRefusal() bool {
	return slices.Contains([]int{400, 403, 413, 422}, e.Status)
}

// CheckStatus returns the error of an answer.
func CheckStatus(status int, text []byte) error {
	if status == http.StatusOK {
		return nil
	}
	var doc struct{ Title, Detail, Error string }
	_ = json.Unmarshal(text, &doc) // without these members, the text is the reason
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("<")) {
		text = nil // a page
	}
	return &StatusError{status, fmt.Sprintf("%.200s", cmp.Or(doc.Title, doc.Detail, doc.Error, string(text), http.StatusText(status)))}
}
