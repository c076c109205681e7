//go:build !linux

package dir

import (
	"fmt"

	"symbolon/internal/bucket"
)

// renameNew fails: only links do not replace a file here. Linked is the error of
// creating one.
func (d *root) renameNew(_, _ string, linked error) error {
	return fmt.Errorf("%w: %w", bucket.ErrConditions, linked)
}
