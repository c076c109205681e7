package difs

import (
	"encoding/json"
	"io"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

// Limits of a request to assemble an artifact bundle.
const (
	maxBundle   = 1 << 20 // bytes of the body
	maxProjects = 16
)

// readBundle reads the body of a request to assemble an artifact bundle.
func readBundle(body io.Reader) (p part, projects []string, err error) {
	var asked struct {
		Checksum *ident.SHA1  `json:"checksum"`
		Chunks   []ident.SHA1 `json:"chunks"`
		Projects []string     `json:"projects"`
	}
	err = json.NewDecoder(body).Decode(&asked)
	switch {
	case err != nil || asked.Checksum == nil || asked.Chunks == nil || asked.Projects == nil:
		return p, nil, requestError(err, "it must be an object with a SHA-1 as checksum, "+
			"a list of SHA-1 as chunks, and a list of names as projects")
	case len(asked.Projects) > maxProjects:
		return p, nil, api.Invalid("too many projects: a bundle may be for %d", maxProjects)
	}
	return part{sum: *asked.Checksum, name: artifactBundle + ".zip", kind: artifactBundle, chunks: asked.Chunks}, asked.Projects, nil
}

// assembleBundle stores an artifact bundle of JavaScript in each of its projects.
// Nothing reads it.
func (d *Door) assembleBundle(w http.ResponseWriter, r *http.Request, g *token.Grant) error {
	p, projects, err := readBundle(r.Body)
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := ident.CheckProject(project); err != nil {
			return api.Invalid("%v", err)
		}
		if !g.May(token.Upload, project) {
			return lacks(token.Upload, project)
		}
	}
	answer := state{State: stateMissing, Missing: p.chunks}
	for _, project := range projects {
		states, err := d.states(r, g, project, []part{p})
		if err != nil {
			return err
		}
		if answer = states[0]; answer.State != stateOK {
			break
		}
	}
	if answer.DIF = nil; answer.State == stateOK {
		text := unused
		answer.Detail = &text
	}
	api.WriteJSON(w, http.StatusOK, answer)
	return nil
}
