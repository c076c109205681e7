package ident

import (
	"fmt"
	"strings"
)

// DefaultProject is the project of uploads that name none.
const DefaultProject = "default"

// maxProject is the largest length of the name of a project. Names are parts of keys
// in a bucket.
const maxProject = 50

// CheckProject returns an error unless name is a valid name of a project.
func CheckProject(name string) error {
	if name == "" || len(name) > maxProject || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("invalid project %.80q: must have 1 to %d characters of a-z, 0-9 and -", name, maxProject)
	}
	return nil
}
