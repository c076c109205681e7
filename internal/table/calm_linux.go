package table

import (
	"runtime"
	"syscall"
)

// calm makes what this goroutine does give way to what answers wait for. Its
// thread ends with it.
func calm() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // 0 is this thread; one that may not is not calm
}
