// Package collectors_test sends profiles through collectors of OpenTelemetry.
package collectors_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/filter/filtertest"
	"symbolon/internal/proctest"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }

// collect starts a collector and returns its log.
func collect(t *testing.T, config string) *waittest.Log {
	t.Helper()
	path := os.Getenv("SYMBOLON_OTELCOL")
	if path == "" {
		t.Skip("SYMBOLON_OTELCOL does not name a collector; bench/clients/otelcol.sh builds one")
	}
	file := filepath.Join(t.TempDir(), "collector.yaml")
	if !strings.Contains(config, "telemetry:") { // other collectors may run on this machine
		config = strings.Replace(config, "service:\n", "service:\n  telemetry: {metrics: {level: none}}\n", 1)
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &waittest.Log{}
	cmd := exec.Command(path, "--config", file, "--feature-gates=+service.profilesSupport")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	log.Await(t, "Everything is ready")
	return log
}

// guide returns the configurations in the guide, with other ports.
func guide(t *testing.T, ports *strings.Replacer) (first, second string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/guides/otlp.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(ports.Replace(string(text)), "```yaml\n")
	if len(blocks) < 3 {
		t.Fatal("the guide has no two configurations")
	}
	first, _, _ = strings.Cut(blocks[1], "```")
	second, _, _ = strings.Cut(blocks[2], "```")
	return first, second
}

// profiles are a sample in a program of the corpus, as the profiler sends it: of the
// program itself, and of an interpreter.
func profiles() []byte {
	m := filtertest.Message
	text := func(s string) []byte { return m(1, s) }
	dictionary := m(
		1, "", 1, m(1, 0x201000, 2, 0x202000, 4, 3, 5, []byte{1}),
		2, "", 2, m(1, 1, 2, 0x2011e0, 4, []byte{2}), 2, m(2, 7, 3, m(1, 1, 2, 9), 4, []byte{3}),
		3, "", 3, m(1, 6, 3, 7), 4, "",
		5, "", 5, "samples", 5, "count", 5, "tile", 5, "process.executable.build_id.gnu", 5, "profile.frame.type", 5, "brew", 5, "tea.py",
		6, "", 6, m(1, 4, 2, text("94e4559d737bc9e7")), 6, m(1, 5, 2, text("native")), 6, m(1, 5, 2, text("cpython")),
		7, "", 7, m(1, []byte{1, 2}),
	)
	profile := m(1, m(1, 1, 2, 2), 2, m(1, 1, 4, []byte{1}))
	host := m(1, "host.name", 2, text("den"))
	return m(1, m(1, m(1, host), 2, m(1, m(1, "profiler"), 2, profile)), 2, dictionary)
}

func TestProfilesGetNamesBetweenCollectors(t *testing.T) {
	symbols, err := filepath.Abs("../../object/testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	in, out := proctest.FreePort(t), proctest.FreePort(t)
	ports := []string{"127.0.0.1:4318", fmt.Sprintf("127.0.0.1:%d", in), "127.0.0.1:4328", fmt.Sprintf("127.0.0.1:%d", out)}
	_, config := guide(t, strings.NewReplacer(ports...))
	last := collect(t, config)
	server := trial.Start(t, trial.Options{
		Sources: []string{symbols},
		Set:     []string{fmt.Sprintf("otlp.forward=http://127.0.0.1:%d/v1development/profiles", out), "otlp.wait=20s"},
	})
	config, _ = guide(t, strings.NewReplacer(append(ports, "http://127.0.0.1:3021", server.URL)...))
	collect(t, config)
	resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/v1development/profiles", in), "application/x-protobuf", bytes.NewReader(profiles()))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatalf("status %d", resp.StatusCode)
	}
	last.Await(t, "ResourceProfiles #0")
	for _, want := range []string{"brew", "fire", "corpus/src/tile.c", "host.name: Str(den)"} {
		if last.Count(want) == 0 {
			t.Errorf("the last collector has no %q:\n%s", want, last)
		}
	}
}
