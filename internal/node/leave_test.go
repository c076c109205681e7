package node_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// The work of a request whose client left ends, but a download that others wait
// for goes on.
func TestADownloadGoesOnWhenItsFirstClientLeaves(t *testing.T) {
	t.Parallel()
	u, file := trial.NewUpstream(t), make(chan struct{})
	u.Do(trial.KettlePath, trial.Wait(file, trial.File([]byte(trial.KettleSym))))
	s := open(t, t.TempDir(), sourcesOf(", filters: {filetypes: [breakpad]}", u))
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		body := `{"stacktraces":[{"frames":[{"instruction_addr":"0x1018","addr_mode":"rel:0"}]}],"modules":[{` + trial.Kettle + `,"image_addr":0}]}`
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/symbolicate", strings.NewReader(body))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			_, err = http.DefaultClient.Do(r)
		}
		left <- err
	}()
	waittest.Until(t, "the download", func() bool { return u.Count(trial.KettlePath) == 1 })
	stays := make(chan reply)
	go func() { stays <- s.symbolicate(t, "", trial.Kettle, "") }()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the client that leaves got %v", err)
	}
	close(file)
	if r := <-stays; r.frame() != "symbolicated" {
		t.Errorf("the client that stays got %s", r.Text)
	}
	if n := u.Count(trial.KettlePath); n != 1 {
		t.Errorf("the file was asked for %d times, want 1", n)
	}
}
