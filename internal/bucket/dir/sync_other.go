//go:build !linux

package dir

import (
	"errors"
	"os"
)

const canSyncAll = false

func syncAll(*os.File) error { return errors.ErrUnsupported }
