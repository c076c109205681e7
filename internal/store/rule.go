package store

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/ident"
)

const day = 24 * time.Hour

// A Rule determines how long uploads are kept.
type Rule struct {
	Project string            `yaml:"project" json:"project,omitempty" help:"Project of the uploads; * stands for any text. Empty: all projects."`
	Labels  map[string]string `yaml:"labels" json:"labels,omitempty" help:"Labels that the uploads must have; * in a value stands for any text."`
	Keep    string            `yaml:"keep" json:"keep" help:"How long: \"30d after upload\", \"90d after last use\", \"newest 5\" versions of a project, or \"forever\"."`
}

// A Lifetime is the value of Rule.Keep. The zero value is forever.
type Lifetime struct {
	AfterUpload time.Duration
	AfterUse    time.Duration
	Newest      int // versions
}

var lifetimeForm = regexp.MustCompile(`^(?:forever|newest (\d{1,6})|(\d{1,5})d after (upload|last use))$`)

// Lifetime returns the meaning of Keep.
func (r Rule) Lifetime() (l Lifetime, err error) {
	f := lifetimeForm.FindStringSubmatch(r.Keep)
	if f == nil {
		return l, fmt.Errorf(`keep is %.80q: must be such as "30d after upload", "90d after last use", "newest 5" or "forever"`, r.Keep)
	}
	n, _ := strconv.Atoi(f[1] + f[2]) // digits
	switch {
	case n == 0 && r.Keep != "forever":
		return l, fmt.Errorf("keep is %q: must have a number greater than 0", r.Keep)
	case f[3] == "upload":
		l.AfterUpload = time.Duration(n) * day
	case f[3] == "last use":
		l.AfterUse = time.Duration(n) * day
	default:
		l.Newest = n
	}
	return l, nil
}

// Validate returns an error if Keep is invalid, or if Project is not like the name of any
// project.
func (r Rule) Validate() error {
	if name := strings.ReplaceAll(r.Project, "*", ""); name != "" && ident.CheckProject(name) != nil {
		return fmt.Errorf("project is %.80q: must be a name of a-z, 0-9 and -, in which * stands for any text", r.Project)
	}
	_, err := r.Lifetime()
	return err
}

// Matches reports whether the rule concerns an upload.
func (r Rule) Matches(u *Upload) bool {
	if r.Project != "" && !isLike(u.Project, r.Project) {
		return false
	}
	for name, pattern := range r.Labels {
		if value, ok := u.Labels[name]; !ok || !isLike(value, pattern) {
			return false
		}
	}
	return true
}

// isLike reports whether a text has the form of a pattern, in which * stands for any
// text.
func isLike(text, pattern string) bool {
	head, pattern, isOpen := strings.Cut(pattern, "*")
	if !isOpen {
		return text == head
	}
	rest, ok := strings.CutPrefix(text, head)
	for ok {
		part, after, more := strings.Cut(pattern, "*")
		if !more {
			return strings.HasSuffix(rest, part)
		}
		_, rest, ok = strings.Cut(rest, part)
		pattern = after
	}
	return false
}
