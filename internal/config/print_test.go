package config_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/config"
)

func printed(t *testing.T, v any, origins map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	if err := config.Print(&b, v, origins); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPrintShowsValuesAndTheirOrigins(t *testing.T) {
	a, loaded := load(t, config.Options{
		Data: []byte(`name: "a b"
words: [x, "true"]
peers:
- id: one
  url: https://h/path/
  head: {B: b, A: a}
- {tries: 5, store: {wait: 90m}}
`),
		Environ: []string{"SYMBOLON_DISK_WAIT=-1"},
		Sets:    []string{"marks.k=5", "token=t"},
	})
	const want = `name: "a b" # x.yaml:1:7
count: 0 # default
small: 0 # default
large: 0 # default
share: 0 # default
quiet: false # default
words: # x.yaml:2:8
  - x # x.yaml:2:8
  - "true" # x.yaml:2:8
sizes: [] # default
marks: # default
  k: "5" # flag
token: "[redacted]" # flag, its secrets left out
keys: [] # default
disk:
  max_bytes: 64MiB # default
  wait: -1 # environment SYMBOLON_DISK_WAIT
  deep:
    level: 3 # default
    alone: "" # default
peers: # x.yaml:4:1
  - id: one # x.yaml:4:7
    url: https://h/path/ # x.yaml:5:8
    head: # x.yaml:6:9
      A: "[redacted]" # x.yaml:6:19, its secrets left out
      B: "[redacted]" # x.yaml:6:13, its secrets left out
    tries: 2 # default
    store:
      max_bytes: 64MiB # default
      deep:
        level: 3 # default
  - tries: 5 # x.yaml:7:11
    store:
      max_bytes: 64MiB # default
      wait: 1h30m # x.yaml:7:28
      deep:
        level: 3 # default
`
	if got := printed(t, a, loaded.Origins); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// texts are values that are hard to write in YAML.
var texts = []string{
	"", " ", "plain", "a: b", "a:", ":a", "- a", "-", "#", "a #b", "a#b", "null", "~", "True", "no", "0x1F", "1e5", "012", "-1",
	`"`, `\`, `\n`, "'", "a'b", "line\nline", "end\n", "\n", "\t", "a\tb", "\r\n", "\x00", "\x1b[2J", "\u0085", "\u00a0", "\u2028", "\ufeff",
	"日本", "😀", "{a}", "[a]", "*a", "&a", "!a", "%a", "@a", "`a`", "|", ">", "a|b", "?", "? a", "<<", "=", "---", "...", "--- a",
	"$", "${A}", "$${A}", "$$${A}", "${", "$$", "a${b", "${A:-b}", "https://h/p", "2026-01-01", "12:30:45", "[redacted]x",
	strings.Repeat("long ", 500),
}

func TestWhatIsPrintedLoadsAsTheSame(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func() string { return texts[r.IntN(len(texts))] }
	for range 500 {
		a := all{
			Name: pick(), Count: int(r.Uint64()), Small: int8(r.Int()), Large: uint16(r.Int()), Share: r.NormFloat64() * 1e9, Quiet: r.IntN(2) == 0,
			Disk: store{MaxBytes: bin.Size(r.Int64N(1 << 40)), Wait: time.Duration(r.Int64N(1 << 50))},
		}
		for range r.IntN(4) {
			a.Words = append(a.Words, pick())
			a.Sizes = append(a.Sizes, bin.Size(r.Int64N(1<<40)))
			a.Peers = append(a.Peers, peer{ID: pick(), Tries: r.IntN(3), Store: store{Wait: -1}})
		}
		if n := r.IntN(4); n > 0 {
			a.Marks = make(map[string]string)
			for range n {
				a.Marks[pick()] = pick()
			}
		}
		want, _ := reload(t, a, "")
		text := printed(t, want, nil)
		got, _ := reload(t, all{}, text)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n%s\ngot  %+v\nwant %+v", seed, text, got, want)
		}
	}
}

func reload(t *testing.T, a all, text string) (all, *config.Loaded) {
	t.Helper()
	loaded, err := config.Load(&a, config.Options{File: "p.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return a, loaded
}

func TestNoOutputHasASecret(t *testing.T) {
	const canary = "canary-7f3a"
	data := `
name: https://u:canary-7f3a@h/p?sig=canary-7f3a
words: ["https://h/?k=canary-7f3a", "https://canary-7f3a@%zz/"]
marks: {a: "https://u:canary-7f3a@h/"}
token: canary-7f3a
keys: [canary-7f3a, a]
peers:
- id: a
  url: https://u:canary-7f3a@h/?sig=canary-7f3a#canary-7f3a
  head: {Authorization: canary-7f3a}
`
	a, loaded := load(t, config.Options{Data: []byte(data), Environ: []string{"SYMBOLON_TOKEN=" + canary, "SYMBOLON_UNKNOWN=" + canary}})
	out := printed(t, a, loaded.Origins) + strings.Join(loaded.Notices, "\n")
	for place := range loaded.Origins {
		out += loaded.Origins[place] + place
	}
	if strings.Contains(out, canary) {
		t.Errorf("a secret got out:\n%s", out)
	}
	if n := strings.Count(out, "its secrets left out"); n != 9 {
		t.Errorf("got %d values without their secrets, want 9:\n%s", n, out)
	}
	if a.Token != canary || a.Peers[0].Head["Authorization"].Reveal() != canary {
		t.Error("the secrets did not get in")
	}

	withDefaults := struct {
		Inner secretDefault `yaml:"inner"`
	}{}
	for _, k := range config.Keys(withDefaults) {
		if strings.Contains(k.Default, canary) {
			t.Errorf("a default shows a secret: %+v", k)
		}
	}
}

type secretDefault struct {
	Token string   `yaml:"token" secret:"true"`
	URLs  []string `yaml:"urls"`
}

func (s secretDefault) Defaults() secretDefault {
	return secretDefault{Token: "canary-7f3a", URLs: []string{"https://u:canary-7f3a@h/"}}
}

func TestAPrintedSecretIsNotTakenForOne(t *testing.T) {
	out := printed(t, all{Keys: []bin.Secret{bin.NewSecret("k")}}, nil)
	var a all
	_, err := config.Load(&a, config.Options{File: "p.yaml", Data: []byte(out)})
	if err == nil || !strings.Contains(err.Error(), "replaces a secret in output") {
		t.Errorf("got %v", err)
	}
}

func TestDurationsAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", -1: "-1", time.Second: "1s", 10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		24 * time.Hour: "1d", 36 * time.Hour: "36h", 168 * time.Hour: "7d", 1500 * time.Millisecond: "1.5s", time.Hour + time.Second: "1h0m1s",
	} {
		out := printed(t, store{Wait: d}, nil)
		if !strings.Contains(out, "wait: "+want+" #") {
			t.Errorf("%v: want %s in\n%s", d, want, out)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func TestAFailedWriteIsReported(t *testing.T) {
	if config.Print(failing{}, all{}, nil) == nil || config.Reference(failing{}) == nil {
		t.Error("no error")
	}
}
