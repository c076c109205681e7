package difs

import (
	"context"
	"net/http"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// The states of a file.
const (
	stateOK         = "ok"
	stateMissing    = "not_found"
	stateAssembling = "assembling"
	stateError      = "error"
)

// state is the answer for a file. A file that is being assembled has never the state
// created in an answer: clients take that for the end.
type state struct {
	State   string       `json:"state"`
	Missing []ident.SHA1 `json:"missingChunks"` // clients need it in any state
	Detail  *string      `json:"detail"`
	DIF     *dif         `json:"dif,omitempty"`
}

// answerTime is how long an answer waits for files that are being assembled.
const answerTime = 10 * time.Second

// assemble begins to assemble the files whose chunks are all here, as one upload, and
// answers the states of all files of the request.
func (d *Door) assemble(w http.ResponseWriter, r *http.Request, g *token.Grant) error {
	parts, err := readParts(r.Body)
	if err != nil {
		return err
	}
	states, err := d.states(r, g, r.PathValue("project"), parts)
	if err != nil {
		return err
	}
	answer := make(map[ident.SHA1]state, len(parts))
	for i := range parts {
		answer[parts[i].sum] = states[i]
	}
	api.WriteJSON(w, http.StatusOK, answer)
	return nil
}

// states begins to assemble the files of a request, and returns their states.
func (d *Door) states(r *http.Request, g *token.Grant, project string, parts []part) ([]state, error) {
	labels, err := receive.Labels(r, g)
	if err != nil {
		return nil, err
	}
	o := &order{
		project: project, holder: receive.Holder(g), since: d.Now(),
		draft: d.Store.Begin(project, labels, receive.Uploader(g)),
	}
	states := make([]state, len(parts))
	err = bucket.Each(len(parts), func(i int) (err error) {
		states[i], err = d.look(r.Context(), o, &parts[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	jobs, err := d.assembler.begin(o, parts, states)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	for i, j := range jobs {
		if j != nil {
			states[i], err = j.wait(ctx)
		}
		if err != nil {
			return nil, err
		}
		if states[i].Missing == nil {
			states[i].Missing = []ident.SHA1{}
		}
	}
	return states, nil
}

// look returns the state of a file before anything is done for it. Only a file of the
// project itself counts as known: another one may be secret.
func (d *Door) look(ctx context.Context, o *order, p *part) (state, error) {
	if d.assembler.runs(o, p) {
		return state{State: stateAssembling}, nil
	}
	found, err := d.Store.Find(ctx, []string{o.project}, store.Question{SHA1: p.sum})
	switch {
	case err != nil:
		return state{}, err
	case len(found) > 0:
		isCurrent, err := o.draft.IsCurrent(ctx, &found[0])
		if err != nil || isCurrent || len(p.chunks) == 0 {
			return state{State: stateOK, DIF: describe(&found[0])}, err
		}
		p.known = &found[0]
	case len(p.chunks) == 0: // it only asks
		return state{State: stateMissing}, nil
	default:
		missing, err := d.Store.MissingChunks(ctx, o.holder, p.chunks)
		if err != nil || len(missing) > 0 {
			return state{State: stateMissing, Missing: missing}, err
		}
	}
	return state{State: stateAssembling}, nil
}
