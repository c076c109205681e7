package batch_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"symbolon/internal/batch"
	"symbolon/internal/bucket"
)

// The environment of the process that is killed: its folders, and the step of its end.
const (
	inKey   = "SYMBOLON_TEST_IN"
	outKey  = "SYMBOLON_TEST_OUT"
	stepKey = "SYMBOLON_TEST_STEP"
)

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if in := os.Getenv(inKey); in != "" {
		last, err := strconv.Atoi(os.Getenv(stepKey))
		if err != nil {
			panic(err)
		}
		o := options(os.Getenv(outKey), in)
		o.Open = func(place string, isOutput bool) (bucket.Bucket, error) {
			b, err := openFolder(place, isOutput)
			return &deadly{Bucket: b, last: int32(last)}, err
		}
		if _, err := batch.Run(context.Background(), &o); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// deadly is a bucket that kills the process at a step: before, while and after it
// stores a blob.
type deadly struct {
	bucket.Bucket
	steps atomic.Int32
	last  int32
}

func (d *deadly) step() {
	if d.steps.Add(1) == d.last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d *deadly) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	d.step()
	defer d.step()
	return d.Bucket.Put(ctx, key, &half{r, d}, a)
}

// half is a content; a step is after its first bytes.
type half struct {
	io.Reader
	d *deadly
}

func (h *half) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p[:min(len(p), 10)])
	if h.d != nil && n > 0 {
		h.d.step()
		h.d = nil
	}
	return n, err
}

func TestAKilledRunGoesOn(t *testing.T) {
	t.Parallel()
	in := folder(t, map[string]string{"1.ndjson": text(0, 4), "2.json.gz": gzipped(text(4, 3))})
	want := reference(t, in)
	for step := 1; ; step++ {
		out := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), inKey+"="+in, outKey+"="+out, stepKey+"="+strconv.Itoa(step))
		output, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.String() != "signal: killed") {
			t.Fatalf("step %d: %v: %s", step, err, output)
		}
		do(t, options(out, in))
		got := files(t, out)
		for name := range got {
			if strings.HasPrefix(name, "probe/") { // the process was killed while it had one
				delete(got, name)
			}
		}
		same(t, got, want)
		if err == nil {
			if step < 3*(1+2*3+1) {
				t.Errorf("a run has %d steps", step)
			}
			break
		}
	}
}
