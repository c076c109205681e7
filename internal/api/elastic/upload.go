package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/token"
)

// The codes of errors. Only the first is known from Elastic.
const (
	codeInternal  = "1000"
	codeFileID    = "1001"
	codePart      = "1002"
	codeMalformed = "1003"
	codeKind      = "1004"
	codeConflict  = "1005"
	codeTooLarge  = "1006"
	codeCut       = "1007"
	codeNoKey     = "1008"
	codeNoRight   = "1009"
	codeBusy      = "1010"
	codeCoding    = "1011"
	codeRequest   = "1012" // any other error of a request
)

// A refusal is the error that a client gets.
type refusal struct {
	status int
	code   string
	text   string
}

func (r *refusal) Error() string { return r.text }

func invalid(code, format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

// mayUpload reports whether the client may upload. If not, it answers with an error.
func (d *Door) mayUpload(w http.ResponseWriter, r *http.Request) bool {
	_, err := d.uploader(r)
	if err != nil {
		d.refuse(w, r, err)
	}
	return err == nil
}

// uploader returns the id of the token of a client that may upload. A client of this
// machine needs a token too, as ever.
func (d *Door) uploader(r *http.Request) (string, error) {
	g, err := d.Grant(r)
	switch {
	case err != nil:
		return "", err
	case g.ID == "":
		return "", errNoToken
	case !g.May(token.Upload, ident.DefaultProject):
		return "", errNoUpload
	}
	return g.ID, nil
}

// receive receives parts of one kind.
func (d *Door) receive(kind symbfile.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		part, err := partOf(r.Header, kind)
		var published *symbfile.Info
		if err == nil {
			part.Client, err = d.uploader(r)
		}
		if err == nil {
			reserve := func(n int64) error { return api.Reserve(r, n) }
			published, err = d.Store.Take(r.Context(), part, newReserver(r.Body, part.Count > 1, reserve))
		}
		if published != nil && err == nil {
			d.Announce(r.Context(), moduleOf(part.File, published.BuildID))
		}
		if err != nil {
			d.refuse(w, r, err)
			return
		}
		api.WriteJSON(w, http.StatusOK, struct {
			Success bool `json:"success"`
			Status  int  `json:"status"`
		}{true, http.StatusOK})
	}
}

// moduleOf returns the module that a file has symbols of.
func moduleOf(file ident.FileID, build ident.BuildID) ident.Module {
	m := ident.Module{FileID: file}
	if !build.IsZero() {
		m.Type, m.CodeID = ident.TypeELF, build.CodeID()
	}
	return m
}

// partOf parses the headers of a part.
func partOf(h http.Header, kind symbfile.Kind) (p symbfile.Part, err error) {
	p.Kind = kind
	if p.File, err = parseFile(h.Get("FileID")); err != nil {
		return p, invalid(codeFileID, "invalid header FileID: must be the base64 of 16 bytes: %v", err)
	}
	if p.Index, err = number(h, "FilePart", 0, 0, symbfile.MaxParts-1); err != nil {
		return p, err
	}
	if p.Count, err = number(h, "FileParts", 1, 1, symbfile.MaxParts); err != nil {
		return p, err
	}
	if p.Index >= p.Count {
		return p, invalid(codePart, "invalid FilePart %d: must be less than FileParts, which is %d", p.Index, p.Count)
	}
	if p.Upload = h.Get("Symbolon-Upload"); !symbfile.IsUpload(p.Upload) {
		return p, invalid(codeRequest, "invalid header Symbolon-Upload %.80q: must be at most %d letters, digits, - and _",
			p.Upload, symbfile.MaxUpload)
	}
	if text := h.Get("Symbolon-Build-ID"); text != "" {
		if p.BuildID, err = ident.ParseBuildID(text); err != nil {
			return p, invalid(codeRequest, "invalid header Symbolon-Build-ID: %v", err)
		}
	}
	if text := h.Get("Symbolon-Image-Base"); text != "" {
		base, err := parseAddr(text)
		if p.Base = &base; err != nil {
			return p, invalid(codeRequest, "invalid header Symbolon-Image-Base: must be an address such as 0x400000")
		}
	}
	return p, nil
}

func number(h http.Header, name string, absent, least, most int) (int, error) {
	text := h.Get(name)
	if text == "" && h.Values(name) == nil {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, invalid(codePart, "invalid header %s %.40q: must be a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// refuse answers that a part is not accepted.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var own *refusal
	var body *api.Refusal
	var stored *ingest.Refusal
	switch {
	case errors.As(err, &own):
		d.writeError(w, r, own.status, own.code, own.text)
	case errors.As(err, &body) && body.Status == http.StatusBadRequest && !body.IsCut:
		d.writeError(w, r, body.Status, codeMalformed, body.Text)
	case errors.As(err, &body): // the client may still read the answer
		if body.Status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		d.fail(w, r, body.Status, body.Text)
	case r.Context().Err() != nil: // the client has left
	case errors.As(err, &stored):
		why := reasons[stored.Why]
		d.writeError(w, r, why.status, why.code, stored.Error())
	case errors.Is(err, errNoUpload):
		d.writeError(w, r, http.StatusForbidden, codeNoRight, err.Error())
	case needsToken(err):
		d.writeError(w, r, http.StatusUnauthorized, codeNoKey, err.Error())
	default:
		d.Log.Error("cannot store a part of a symbfile", "request_id", api.RequestID(r.Context()), "error", err)
		if kind := fault.KindOf(err); kind == fault.Timeout || kind == fault.Transport {
			w.Header().Set("Retry-After", "5")
			d.writeError(w, r, http.StatusServiceUnavailable, codeBusy, "the store does not respond; try again")
			return
		}
		if status := api.Status(err); status == http.StatusInsufficientStorage {
			d.writeError(w, r, status, codeInternal, api.Full)
			return
		}
		d.writeError(w, r, http.StatusInternalServerError, codeInternal, "Something went wrong on our side.")
	}
}

// reasons has the statuses and codes for refusals of the store.
var reasons = map[ingest.Reason]struct {
	status int
	code   string
}{
	ingest.Malformed: {http.StatusBadRequest, codeMalformed},
	ingest.WrongKind: {http.StatusBadRequest, codeKind},
	ingest.Conflict:  {http.StatusConflict, codeConflict},
	ingest.TooLarge:  {http.StatusRequestEntityTooLarge, codeTooLarge},
	ingest.Truncated: {http.StatusBadRequest, codeCut},
}

// fail writes an error of the front.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, status int, title string) {
	code := codeRequest
	switch status {
	case http.StatusRequestEntityTooLarge:
		code = codeTooLarge
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		code = codeBusy
	case http.StatusUnsupportedMediaType:
		code = codeCoding
	case http.StatusInternalServerError:
		code = codeInternal
	case http.StatusRequestTimeout, http.StatusBadRequest:
		code = codeCut
	}
	d.writeError(w, r, status, code, cmp.Or(title, strconv.Itoa(status)+" "+http.StatusText(status)))
}

// writeError writes an error, and logs it with the id in the answer.
func (d *Door) writeError(w http.ResponseWriter, r *http.Request, status int, code, text string) {
	type failure struct {
		Code string `json:"Code"`
		Text string `json:"Text"`
	}
	id := ident.NewUUID()
	d.Log.Info("refused an upload", "uuid", id, "request_id", api.RequestID(r.Context()), "status", status, "code", code, "reason", text)
	api.WriteJSON(w, status, struct {
		Success bool    `json:"success"`
		UUID    string  `json:"uuid"`
		Error   failure `json:"error"`
		Status  int     `json:"status"`
	}{false, id, failure{code, text}, status})
}
