package waittest

import (
	"flag"
	"runtime"
	"strconv"
)

// Parallel runs four of the parallel tests of a package at a time on machines with fewer
// processors, too: most of them wait for peers, processes and timeouts. It is called by
// TestMain before the tests run. The flag -parallel overrides it.
func Parallel() {
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err) // the testing package has the flag
	}
}
