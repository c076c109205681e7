package node_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is an OpenAPI document, as far as ours has members.
type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Title   *string `json:"title"`
		Version *string `json:"version"`
	} `json:"info"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		SecuritySchemes map[string]struct{ Type, Scheme, In, Name string } `json:"securitySchemes"`
	} `json:"components"`
	Security []map[string][]string `json:"security"`
}

type operation struct {
	Summary    string `json:"summary"`
	ID         string `json:"operationId"`
	Parameters []struct {
		Name, In string
		Required bool
		Schema   map[string]string
	} `json:"parameters"`
	Body *struct {
		Content map[string]any `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Description *string        `json:"description"`
		Content     map[string]any `json:"content"`
	} `json:"responses"`
}

var (
	templated   = regexp.MustCompile(`\{([^{}]*)\}`)
	statusRange = regexp.MustCompile(`^([1-5](\d\d|XX)|default)$`)
	mediaType   = regexp.MustCompile(`^[a-z]+/[a-z0-9.+-]+$`)
)

// openAPI returns the document of a whole front.
func openAPI(t *testing.T) (text []byte, d *document) {
	n, cfg := newNode(t, "profiler: {enabled: true}\notlp: {forward: 'http://127.0.0.1:1/'}\nmozilla: {v4_profile: tecken}\n")
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("%d: %v: %s", w.Code, err, w.Body)
	}
	return w.Body.Bytes(), d
}

// TestOpenAPIDocumentHasAllRoutes checks the rules of OpenAPI 3.1, and that each route
// has a summary. SYMBOLON_OPENAPI=FILE writes the document, for other validators.
func TestOpenAPIDocumentHasAllRoutes(t *testing.T) {
	t.Parallel()
	text, d := openAPI(t)
	if file := os.Getenv("SYMBOLON_OPENAPI"); file != "" {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1.") || d.Info.Title == nil || d.Info.Version == nil {
		t.Errorf("the head is invalid: %q %v", d.OpenAPI, d.Info)
	}
	for _, use := range d.Security {
		for name := range use {
			s := d.Components.SecuritySchemes[name]
			if (s.Type != "http" || s.Scheme == "") && (s.Type != "apiKey" || s.In != "header" || s.Name == "") {
				t.Errorf("the security scheme %s is invalid: %v", name, s)
			}
		}
	}
	ids, shapes, count := map[string]string{}, map[string]string{}, 0
	for path, item := range d.Paths {
		shape := templated.ReplaceAllString(path, "{}")
		if other := shapes[shape]; other != "" || path[0] != '/' {
			t.Errorf("path %s is invalid, or the same as %q", path, other)
		}
		shapes[shape] = path
		for method, o := range item {
			count++
			at := method + " " + path
			if !slices.Contains([]string{"get", "head", "post", "put", "patch", "delete"}, method) {
				t.Errorf("%s: invalid method", at)
			}
			if o.Summary == "" || strings.ContainsAny(o.Summary, "\n") || strings.HasSuffix(o.Summary, ".") {
				t.Errorf("%s: summary %q is not a line", at, o.Summary)
			}
			if other := ids[o.ID]; other != "" || o.ID == "" {
				t.Errorf("%s: operation id %q is also that of %q", at, o.ID, other)
			}
			ids[o.ID] = at
			if o.Parameters == nil {
				t.Errorf("%s: the parameters are not a list", at)
			}
			o.check(t, at, path)
		}
	}
	if count < 80 || d.Paths["/symbolicate/v5"]["post"].Summary == "" || d.Paths["/api/0/organizations/{org}/chunk-upload/"]["post"].ID == "" {
		t.Errorf("the document has %d operations, and lacks some", count)
	}
}

// check checks the parameters, the body and the responses of an operation.
func (o *operation) check(t *testing.T, at, path string) {
	t.Helper()
	var names, declared []string
	for _, m := range templated.FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	for _, p := range o.Parameters {
		declared = append(declared, p.Name)
		if p.In != "path" || !p.Required || p.Schema["type"] != "string" {
			t.Errorf("%s: parameter %v is not that of a path", at, p)
		}
	}
	if !slices.Equal(names, declared) {
		t.Errorf("%s: the path has the parameters %q, declared are %q", at, names, declared)
	}
	if o.Responses["2XX"].Description == nil || o.Responses["default"].Description == nil {
		t.Errorf("%s: no response for success or for errors", at)
	}
	contents := []map[string]any{}
	if o.Body != nil {
		contents = append(contents, o.Body.Content)
	}
	for status, r := range o.Responses {
		if !statusRange.MatchString(status) || r.Description == nil || *r.Description == "" {
			t.Errorf("%s: response %s has no description, or is not a status", at, status)
		}
		contents = append(contents, r.Content)
	}
	for _, content := range contents {
		for name := range content {
			if !mediaType.MatchString(name) {
				t.Errorf("%s: invalid media type %q", at, name)
			}
		}
	}
}
