package difs

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

// Limits of a request to assemble files.
const (
	maxAssemble = 32 << 20 // bytes of the body
	maxFiles    = 20_000
	maxName     = 1 << 10 // bytes of a name that are kept
)

// part is a file of a request to assemble files.
type part struct {
	sum    ident.SHA1 // of the file
	name   string
	claim  ident.DebugID // of the client; zero: none
	chunks []ident.SHA1

	kind  string       // of a file that is kept and not read; empty: determined from the content
	known *store.Found // the file of the project; nil: it has none
}

// readParts reads the body of a request: an object with a member for each file, by
// its SHA-1.
func readParts(body io.Reader) (parts []part, err error) {
	d := json.NewDecoder(body)
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, requestError(err, "it must be an object with a member for each file")
	}
	for d.More() {
		if len(parts) == maxFiles {
			return nil, api.Refuse(http.StatusRequestEntityTooLarge, "too many files: a request may have %d", maxFiles)
		}
		key, err := d.Token()
		p := part{}
		if text, ok := key.(string); err != nil || !ok || p.sum.UnmarshalText([]byte(text)) != nil {
			return nil, requestError(err, "the name of each member must be the SHA-1 of a file")
		}
		var asked struct {
			Name    *string      `json:"name"`
			DebugID any          `json:"debug_id"` // a claim: an invalid one is like none
			Chunks  []ident.SHA1 `json:"chunks"`
		}
		if err := d.Decode(&asked); err != nil || asked.Name == nil || asked.Chunks == nil {
			return nil, requestError(err, "file "+p.sum.String()+" must be an object with a name, and the list of the SHA-1 of its chunks as chunks")
		}
		id, _ := asked.DebugID.(string)
		p.claim, _ = ident.ParseDebugID(id)
		p.name, p.chunks = (*asked.Name)[:min(len(*asked.Name), maxName)], asked.Chunks
		parts = append(parts, p)
	}
	if _, err := d.Token(); err != nil {
		return nil, requestError(err, "the object has no end")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, requestError(err, "something follows the object")
	}
	return parts, nil
}

// requestError returns the error for a request that is invalid, unless its body could
// not be read because of err.
func requestError(err error, why string) error {
	if unread, ok := errors.AsType[*api.Refusal](err); ok {
		return unread
	}
	return api.Invalid("invalid request: %s", why)
}
