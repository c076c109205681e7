package push

import (
	"context"
	"fmt"
	"time"

	"symbolon/internal/transfer"
)

// stallTimeout ends a transfer that moved no byte, and a request that got no
// response, for so long.
const stallTimeout = 5 * time.Minute

// stallCause returns the error of a request with this context, which failed with
// err.
func stallCause(ctx context.Context, err error) error {
	if context.Cause(ctx) == transfer.ErrStalled {
		return fmt.Errorf("transfer stalled for %v", stallTimeout)
	}
	return err
}
