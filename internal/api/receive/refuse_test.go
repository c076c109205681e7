package receive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/fault"
	"symbolon/internal/token"
)

func TestAnswersToErrors(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		ctx      context.Context
		err      error
		status   int // 0: no answer
		isLogged bool
	}{
		{t.Context(), fmt.Errorf("read: %w", api.Invalid("too many files")), 400, false},
		{t.Context(), token.ErrUnknown, 401, false},
		{t.Context(), fault.New(fault.NotFound, "", "not found"), 404, false},
		{t.Context(), fault.New(fault.Timeout, "bucket", "late"), 503, true},
		{t.Context(), fault.New(fault.Transport, "bucket", "down"), 503, true},
		{t.Context(), fault.New(fault.Internal, "", "broken"), 500, true},
		{t.Context(), errors.New("other"), 500, true},
		{gone, io.ErrUnexpectedEOF, 0, false},
	} {
		var log strings.Builder
		got := receive.Answer(httptest.NewRequestWithContext(c.ctx, "POST", "/", nil), c.err, slog.New(slog.NewTextHandler(&log, nil)))
		status := 0
		if got != nil {
			status = got.Status
		}
		if status != c.status || (log.Len() > 0) != c.isLogged {
			t.Errorf("%v: got %v with the log %q, want %d", c.err, got, log.String(), c.status)
		}
	}
}
