// Package trial tests the whole service: it builds the binary, runs it as a process
// on a free port of loopback with a symbol server that fails in given ways, and reads
// its answers, log, metrics and memory. Only tests use it.
//
// A package with trials has
//
//	func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }
//
// The binary is built once, with the race detector if the test has it, and stays in the
// folder for temporary files: further test processes find it up to date. Every process
// ends with its test, and a test fails if its server has panicked or has a data race.
//
// Requests to a Server or an Upstream may be concurrent. Starting and ending belongs
// to the goroutine of the test.
package trial
