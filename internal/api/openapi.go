package api

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

type object = map[string]any

// openAPI returns the OpenAPI document of the routes. Bodies have no schemas: the pages
// in docs/api describe them.
func (f *Front) openAPI() []byte {
	paths := object{}
	for _, n := range f.mux.nodes() {
		path, params := templateOf(n)
		item := object{}
		for method, r := range n.routes {
			op := object{
				"summary": r.Summary, "operationId": operationID(method, path), "parameters": params,
				"responses": object{
					"2XX":     object{"description": "The answer.", "content": mediaOf(r.Produces)},
					"default": object{"description": "An error, in the form of the clients of the path."},
				},
			}
			if r.Accepts != "" {
				op["requestBody"] = object{"content": mediaOf(r.Accepts)}
			}
			item[strings.ToLower(method)] = op
		}
		paths[path] = item
	}
	var build struct {
		Version string `json:"version"`
	}
	_ = json.Unmarshal(f.opt.Version, &build) // a file of the operator may have another form
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

// mediaOf returns the content for a list of media types.
func mediaOf(types string) object {
	content := object{}
	for _, name := range strings.FieldsFunc(types, func(r rune) bool { return r == ',' || r == ' ' }) {
		content[name] = object{}
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
func templateOf(n *node) (path string, params []object) {
	params = []object{}
	add := func(name, about, pattern string) {
		schema := object{"type": "string"}
		if pattern != "" {
			schema["pattern"] = pattern
		}
		params = append(params, object{"name": name, "in": "path", "description": about, "required": true, "schema": schema})
	}
	if n.form == nil && n.pattern != "/" && strings.HasSuffix(n.pattern, "/") {
		add("rest", "May have slashes.", "")
		return n.pattern + "{rest}", params
	}
	if n.form == nil {
		return n.pattern, params
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
