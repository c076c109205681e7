package node_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain runs four tests at a time on machines with fewer processors, too, as many of
// them wait for sources that do not answer. The flag -parallel overrides it.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err) // the testing package has the flag
	}
	os.Exit(m.Run())
}
