package difs

import (
	"fmt"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
)

// fail answers with an error, unless the client has left.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, err error) {
	if a := receive.Answer(r, err, d.Log); a != nil {
		failDetail(w, r, a.Status, a.Text)
	}
}

// failDetail writes {"detail": text}, the form of errors that the clients print.
func failDetail(w http.ResponseWriter, _ *http.Request, status int, text string) {
	if text == "" {
		text = fmt.Sprintf("%d %s", status, http.StatusText(status))
	}
	api.WriteJSON(w, status, struct {
		Detail string `json:"detail"`
	}{text})
}
