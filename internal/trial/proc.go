package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Memory is the resident memory of the process in bytes: now, and the most it
// ever was.
func (s *Server) Memory() (now, peak int64) {
	s.t.Helper()
	for line := range strings.Lines(s.proc("status")) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return now, peak
}

// ForgetPeak resets the peak of Memory to the current size.
func (s *Server) ForgetPeak() {
	s.t.Helper()
	s.proc("status") // skips the test where the file does not exist
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.PID()), []byte("5"), 0); err != nil {
		s.t.Fatal(err)
	}
}

// proc reads a file of the process in /proc, which only Linux has.
func (s *Server) proc(file string) string {
	s.t.Helper()
	if runtime.GOOS != "linux" {
		s.t.Skip("this is read from /proc, which only Linux has")
	}
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.PID()), file))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}
