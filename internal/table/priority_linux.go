package table

import (
	"runtime"
	"syscall"
)

// lowerPriority lowers the priority of this goroutine below that of answers. Its
// thread ends with it.
func lowerPriority() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // 0 is this thread; without permission nothing changes
}
