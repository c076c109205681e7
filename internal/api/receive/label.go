package receive

import (
	"maps"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/api"
	"symbolon/internal/token"
)

// Limits of the labels of an upload.
const (
	maxLabels = 16
	maxLabel  = 200 // bytes of a name and a value
)

// Labels returns the labels of an upload: those of the request, overridden by those of
// its token.
func Labels(r *http.Request, g *token.Grant) (map[string]string, error) {
	return ParseLabels(r.URL.Query()["label"], g)
}

// ParseLabels returns the labels of an upload with these texts of a client.
func ParseLabels(wanted []string, g *token.Grant) (map[string]string, error) {
	if len(wanted) > maxLabels {
		return nil, api.Invalid("too many labels: an upload may have %d", maxLabels)
	}
	labels := make(map[string]string, len(wanted)+len(g.Labels))
	for _, text := range wanted {
		name, value, _ := strings.Cut(text, "=")
		if name == "" || value == "" || len(text) > maxLabel || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return nil, api.Invalid("invalid label %.80q: must be NAME=VALUE, of at most %d bytes", text, maxLabel)
		}
		labels[name] = value
	}
	maps.Copy(labels, g.Labels)
	return labels, nil
}

// Holder returns the id of a client, under which its chunks are kept.
func Holder(g *token.Grant) string {
	if g.ID == "" {
		return "local"
	}
	return g.ID
}

// Uploader returns the name of a client for the record of an upload.
func Uploader(g *token.Grant) string {
	if g.Name == "" {
		return Holder(g)
	}
	return g.Name
}
