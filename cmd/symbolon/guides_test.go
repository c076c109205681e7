package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"symbolon/internal/metric"
)

var (
	selector = regexp.MustCompile(`((?:symbolon|process)_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)\s*[=!]`)
	grouping = regexp.MustCompile(`by \(([^)]*)\)`)
)

// The dashboard and the alert rules of the guides name metrics and labels that
// the program has.
func TestDashboardAndRulesNameMetricsThatExist(t *testing.T) {
	labels := map[string][]string{"process_start_time_seconds": nil}
	all := []string{"job", "instance", "le"}
	for _, m := range metric.Table() {
		labels[m.Name] = m.Labels
		all = append(all, m.Labels...)
		if m.Type == "histogram" {
			labels[m.Name+"_bucket"], labels[m.Name+"_sum"], labels[m.Name+"_count"] = m.Labels, m.Labels, m.Labels
		}
	}
	for name, least := range map[string]int{"symbolon-rules.yml": 9, "symbolon-dashboard.json": 14} {
		text, err := os.ReadFile(filepath.Join("../../docs/guides", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") {
			var anything any
			if err := json.Unmarshal(text, &anything); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text = []byte(fmt.Sprint(anything)) // without the escapes
		}
		found := selector.FindAllSubmatch(text, -1)
		if len(found) < least {
			t.Errorf("%s names %d metrics, want at least %d", name, len(found), least)
		}
		for _, m := range found {
			known, ok := labels[string(m[1])]
			if !ok {
				t.Errorf("%s names metric %s, which does not exist", name, m[1])
				continue
			}
			for _, label := range matcher.FindAllSubmatch(m[2], -1) {
				if !slices.Contains(known, string(label[1])) && !slices.Contains([]string{"job", "instance"}, string(label[1])) {
					t.Errorf("%s names label %s of metric %s, which it does not have", name, label[1], m[1])
				}
			}
		}
		for _, by := range grouping.FindAllSubmatch(text, -1) {
			for label := range strings.SplitSeq(string(by[1]), ",") {
				if !slices.Contains(all, strings.TrimSpace(label)) {
					t.Errorf("%s groups by label %s, which no metric has", name, label)
				}
			}
		}
	}
}

// A full disk refuses all uploads with 507, and the first failure of a process has
// no increase: the alert must be raised by it, too.
func TestAlertOfUploadsIsRaisedByTheFirstFullDisk(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/symbolon-rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(text), "alert: SymbolonUploadsFail")
	rule, _, _ = strings.Cut(rule, "alert:")
	for _, series := range []string{`symbolon_http_requests_total{code="507"}`, `symbolon_upload_parts_total{outcome="failed"}`} {
		if !strings.Contains(rule, "increase("+series) || !strings.Contains(rule, series+" unless "+series+" offset 30m") {
			t.Errorf("SymbolonUploadsFail does not count all of %s", series)
		}
	}
	_, routes, _ := strings.Cut(rule, `route=~"`)
	routes, _, _ = strings.Cut(routes, `"`)
	for _, route := range []string{"/upload/{$}", "/api/0/organizations/{org}/chunk-upload/{$}", "/api/0/projects/{org}/{project}/files/difs/assemble/{$}", "/api/0/projects/{org}/{project}/files/dsyms/{$}"} {
		if matched, err := regexp.MatchString("^(?:"+routes+")$", route); err != nil || !matched {
			t.Errorf("SymbolonUploadsFail does not count %s: %v", route, err)
		}
	}
}

// 503 is a full disk at /readyz, and a next hop of profiles that does not answer.
func TestAlertOfErrorsCounts503(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/symbolon-rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(text), "alert: SymbolonErrors")
	if rule, _, _ = strings.Cut(rule, "alert:"); !strings.Contains(rule, `code=~"5.."`) || strings.Contains(rule, "503") {
		t.Errorf("SymbolonErrors does not count all answers of 5xx: %s", rule)
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestLinksOfDocumentsLeadSomewhere checks that each link to a file of the
// project has its file, and its heading.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return fence.ReplaceAllString(string(text), "")
	}
	links := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(read(path), -1) {
			target := path
			if strings.Contains(m[1], ":") {
				continue
			}
			links++
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
				continue
			}
			if m[2] != "" && filepath.Ext(target) == ".md" && !slices.Contains(anchors(read(target)), m[2]) {
				t.Errorf("%s links to %s#%s, which is not a heading", path, m[1], m[2])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("%d links were found, want at least 100", links)
	}
}

// anchors returns what links to the headings of a page are called.
func anchors(page string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		text := link.ReplaceAllString(m[1], "]")
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, text))
	}
	return names
}
