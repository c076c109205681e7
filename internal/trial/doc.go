// Package trial puts the whole service on trial: it builds the binary, runs it
// as a process of its own on a free port of loopback, gives it a symbol server
// that misbehaves as it is told to, and looks at what comes of it: answers, the
// log, explain, metrics, memory. Only tests use it.
//
// A package with trials has
//
//	func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }
//
// The binary is built once for a test process, with the race detector if the
// test itself has it. Every process is ended with its test, and a test fails
// when its server has panicked or has met a data race.
//
// What is asked of a Server or an Upstream may be asked from several
// goroutines; starting and ending belongs to the test's own.
package trial
