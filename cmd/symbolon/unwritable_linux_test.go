package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/proctest"
)

// powerless returns a process that cannot write the folders home and state of its
// directory: root may write all folders, unless it has no capabilities.
func powerless(t *testing.T, args ...string) *process {
	t.Helper()
	if os.Geteuid() == 0 {
		args = append([]string{proctest.Program(t, "setpriv"), "--bounding-set", "-all"}, args...)
	}
	p := newProcess(t, args...)
	p.cmd.Dir = t.TempDir()
	for _, name := range []string{"home", "state"} {
		if err := os.Mkdir(filepath.Join(p.cmd.Dir, name), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// homeless makes the folders of the user those that cannot be written.
func (p *process) homeless() *process {
	for _, name := range []string{"HOME=", "XDG_CACHE_HOME=", "XDG_STATE_HOME="} {
		p.cmd.Env = append(p.cmd.Env, name+filepath.Join(p.cmd.Dir, "home"))
	}
	return p
}

// output runs the process and returns its output and its status.
func (p *process) output() (out, errs, status string) {
	p.t.Helper()
	text, err := p.cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return string(text), p.stderr.String(), p.cmd.ProcessState.String()
}

func TestConfigCheckIsNotContentWithFoldersThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	out, errs, status := powerless(t, "symbolon", "config", "check").homeless().output()
	if status != "exit status 1" || !strings.Contains(errs, "data is ") || !strings.Contains(errs, "permission denied") || strings.Contains(out, "good") {
		t.Errorf("without data: %s, %s, %s", status, out, errs)
	}
	out, errs, status = powerless(t, "symbolon", "config", "check", "--data", ".", "--set", "state=./state").output()
	if status != "exit status 0" || strings.Contains(out, "good") || !strings.Contains(out, "cannot write the folder of uploads") ||
		strings.Count(errs, "uploads and new tokens will fail: state is ") != 1 {
		t.Errorf("without state: %s, %s, %s", status, out, errs)
	}
	out, errs, status = powerless(t, "symbolon", "config", "check", "--data", ".", "--set", "state=./state/new").output()
	if status != "exit status 1" || !strings.Contains(errs, "state is ") || strings.Contains(out, "good") {
		t.Errorf("with a state that cannot be created: %s, %s, %s", status, out, errs)
	}
}

func TestServerWarnsThatItCannotKeepUploads(t *testing.T) {
	t.Parallel()
	p := powerless(t, "symbolon", "serve", "--listen", "127.0.0.1:0", "--data", ".", "--set", "state=./state").start()
	p.line()
	p.signal(syscall.SIGTERM)
	status, warning := p.end(), "level=WARN msg=\"uploads and new tokens will fail: state is "
	if errs := p.stderr.String(); status != "exit status 0" || strings.Count(errs, warning) != 1 || !strings.Contains(errs, "--set state=DIR") {
		t.Errorf("%s: %s", status, errs)
	}
}

func TestCommandsNameTheFlagForAFolderThatCanBeWritten(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"prefetch", "--source", ".", "list"}, {"crash", "dump"}, {"profile", "profile"}, {"serve", "--listen", "127.0.0.1:0"}, {"cache", "ls"},
	} {
		p := powerless(t, append([]string{"symbolon"}, args...)...).homeless()
		for name, text := range map[string]string{"list": "a/0F1E2D3C4B5A69788796A5B4C3D2E1F00\n", "dump": "MDMP", "profile": `{"meta":{"preprocessedProfileVersion":50},"libs":[],"threads":[]}`} {
			if err := os.WriteFile(filepath.Join(p.cmd.Dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, errs, status := p.output()
		if status != "exit status 1" || !strings.Contains(errs, "permission denied; choose another with --data\n") || strings.Contains(errs, "internal") {
			t.Errorf("%s: %s, %s, %s", args, status, out, errs)
		}
	}
}
