package proctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// KernelCore runs a program that crashes in a folder and returns its core file. The
// name is empty if the kernel writes core files elsewhere.
func KernelCore(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited; "$0" "$@"`, program}, args...)...)
	cmd.Dir = dir
	_ = cmd.Run() // a signal ends it
	files, err := filepath.Glob(filepath.Join(dir, "core*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		return ""
	}
	return files[0]
}

// GDBCore runs a program that crashes in a folder and returns the core file that gdb
// writes.
func GDBCore(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(Program(t, "gdb"), append([]string{"-nx", "-q", "-batch", "-ex", "set confirm off", "-ex", "run",
		"-ex", "generate-core-file dump", "-ex", "kill", "--args", program}, args...)...)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // its status is that of the last command
	file := filepath.Join(dir, "dump")
	if _, err := os.Stat(file); err != nil {
		lacks(t, true, "gdb writes no core file: "+string(out))
	}
	return file
}
