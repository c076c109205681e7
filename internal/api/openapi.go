package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// openAPI returns the OpenAPI document of the routes. Bodies have no schemas: the pages
// in docs/api describe them.
func (f *Front) openAPI() []byte {
	paths := map[string]map[string]operation{}
	for _, n := range f.mux.nodes() {
		path, params := templateOf(n)
		item := map[string]operation{}
		for method, r := range n.routes {
			item[strings.ToLower(method)] = operation{
				Summary: r.Summary, ID: operationID(method, path), Parameters: params, Body: contentOf(r.Accepts),
				Responses: map[string]payload{
					"2XX":     {Description: "The answer.", Content: mediaOf(r.Produces)},
					"default": {Description: "An error.", Content: n.errorForm()},
				},
			}
		}
		paths[path] = item
	}
	var build struct {
		Version string `json:"version"`
	}
	_ = json.Unmarshal(f.opt.Version, &build) // a file of the operator may have another form
	type object = map[string]any
	text, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": "Symbolon", "version": build.Version},
		"servers": []object{{"url": "."}}, // relative to the document
		"paths":   paths,
		"components": object{"securitySchemes": object{
			"bearer":    object{"type": "http", "scheme": "bearer"},
			"authToken": object{"type": "apiKey", "in": "header", "name": "Auth-Token"},
			"basic":     object{"type": "http", "scheme": "basic"},
		}},
		"security": []object{{}, {"bearer": []string{}}, {"authToken": []string{}}, {"basic": []string{}}},
	})
	if err != nil {
		panic("api: encode the document: " + err.Error())
	}
	return text
}

type operation struct {
	Summary    string             `json:"summary"`
	ID         string             `json:"operationId"`
	Parameters []parameter        `json:"parameters,omitempty"`
	Body       *payload           `json:"requestBody,omitempty"`
	Responses  map[string]payload `json:"responses"`
}

type parameter struct {
	Name        string            `json:"name"`
	In          string            `json:"in"`
	Description string            `json:"description,omitempty"`
	Required    bool              `json:"required"`
	Schema      map[string]string `json:"schema"`
}

type payload struct {
	Description string           `json:"description,omitempty"`
	Content     map[string]media `json:"content,omitempty"`
}

type media struct {
	Example json.RawMessage `json:"example,omitempty"`
}

func contentOf(types string) *payload {
	if types == "" {
		return nil
	}
	return &payload{Content: mediaOf(types)}
}

// mediaOf returns the content for a list of media types.
func mediaOf(types string) map[string]media {
	content := map[string]media{}
	for _, name := range strings.FieldsFunc(types, func(r rune) bool { return r == ',' || r == ' ' }) {
		content[name] = media{}
	}
	return content
}

// nodes returns the nodes of all patterns.
func (m *mux) nodes() []*node {
	list := slices.Concat(m.prefixes, m.shapes)
	for _, n := range m.paths {
		list = append(list, n)
	}
	return list
}

// templateOf returns the pattern of a node as a path template, with its parameters.
func templateOf(n *node) (path string, params []parameter) {
	add := func(name, about, pattern string) {
		schema := map[string]string{"type": "string"}
		if pattern != "" {
			schema["pattern"] = pattern
		}
		params = append(params, parameter{name, "path", about, true, schema})
	}
	if n.form == nil && n.pattern != "/" && strings.HasSuffix(n.pattern, "/") {
		add("rest", "May have slashes.", "")
		return n.pattern + "{rest}", params
	}
	if n.form == nil {
		return n.pattern, nil
	}
	for _, s := range n.form {
		switch s.kind {
		case exact:
			path += "/" + s.text
		case hexDigits:
			path += "/{" + s.name + "}"
			add(s.name, "", "^[0-9a-fA-F]+$")
		case suffix:
			path += "/{" + s.name + "}" + s.text
			add(s.name, "", "")
		case anything:
			path += "/{" + s.name + "}"
			add(s.name, "", "")
		}
	}
	return path, params
}

// operationID returns the name of an operation in programs.
func operationID(method, path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if path != "/" && strings.HasSuffix(path, "/") {
		words = append(words, "index")
	}
	return strings.ToLower(method) + "_" + strings.Join(words, "_")
}

// errorForm returns the content of an error, with that of an unknown path as an example.
func (n *node) errorForm() map[string]media {
	w := &errorWriter{header: http.Header{}}
	n.fail(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}, Header: http.Header{}}, http.StatusNotFound, "")
	name, _, _ := strings.Cut(w.header.Get("Content-Type"), ";")
	if name == "" {
		return nil
	}
	if !json.Valid(w.text) {
		w.text = nil
	}
	return map[string]media{name: {w.text}}
}

// errorWriter keeps an answer.
type errorWriter struct {
	header http.Header
	text   []byte
}

func (w *errorWriter) Header() http.Header { return w.header }

func (w *errorWriter) WriteHeader(int) {}

func (w *errorWriter) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	return len(p), nil
}
