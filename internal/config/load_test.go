package config_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/config"
	"symbolon/internal/fault"
	"symbolon/internal/source"
)

// all has a key of every kind.
type all struct {
	Name  string            `yaml:"name" help:"A name."`
	Count int               `yaml:"count" help:"A count."`
	Small int8              `yaml:"small" help:"A small count."`
	Large uint16            `yaml:"large" help:"A count that is not negative."`
	Share float64           `yaml:"share" help:"A share | part."`
	Quiet bool              `yaml:"quiet" help:"Say less."`
	Words []string          `yaml:"words" help:"Some words."`
	Sizes []bin.Size        `yaml:"sizes" help:"Some sizes."`
	Marks map[string]string `yaml:"marks" help:"Some marks."`
	Token string            `yaml:"token" help:"A secret." secret:"true"`
	Keys  []bin.Secret      `yaml:"keys" help:"Secrets."`
	Disk  store             `yaml:"disk" help:"A store."`
	Peers []peer            `yaml:"peers" help:"Others."`
	Kept  int               `yaml:"-"`
}

type store struct {
	MaxBytes bin.Size      `yaml:"max_bytes" help:"Bytes."`
	Wait     time.Duration `yaml:"wait,omitempty" help:"How long."`
	Deep     deep          `yaml:"deep" help:"Deeper."`
}

type deep struct {
	Level int    `yaml:"level" help:"How deep."`
	Alone string `yaml:"alone" help:"Nowhere else."`
}

type peer struct {
	ID    string                `yaml:"id" help:"Its name."`
	URL   source.URL            `yaml:"url" help:"Its address."`
	Head  map[string]bin.Secret `yaml:"head" help:"Headers."`
	Tries int                   `yaml:"tries" help:"Tries."`
	Store store                 `yaml:"store" help:"Its store."`
}

func (s store) Defaults() store {
	if s.MaxBytes == 0 {
		s.MaxBytes = 64 << 20
	}
	return s
}

func (s store) Validate() error {
	if s.MaxBytes < -1 || s.MaxBytes == 7 {
		return fmt.Errorf("max_bytes is %v: must be a size other than 7", s.MaxBytes)
	}
	if s.Wait == 7*time.Second {
		return errors.New("waiting 7s is bad luck")
	}
	return nil
}

func (d deep) Defaults() deep {
	if d.Level == 0 {
		d.Level = 3
	}
	return d
}

func (p peer) Defaults() peer {
	if p.Tries == 0 {
		p.Tries = 2
	}
	return p
}

func (a all) Validate() error {
	if a.Count == 13 {
		return errors.New("thirteen is not allowed")
	}
	return nil
}

func load(t *testing.T, o config.Options) (all, *config.Loaded) {
	t.Helper()
	var a all
	if o.File == "" {
		o.File = "x.yaml"
	}
	loaded, err := config.Load(&a, o)
	if err != nil {
		t.Fatal(err)
	}
	return a, loaded
}

func TestNoInputGivesDefaultsAtAnyDepth(t *testing.T) {
	a, loaded := load(t, config.Options{})
	want := all{Disk: store{MaxBytes: 64 << 20, Deep: deep{Level: 3}}}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("got %+v, want %+v", a, want)
	}
	if len(loaded.Notices)+len(loaded.Origins) != 0 {
		t.Errorf("unexpected: %+v", loaded)
	}
}

func TestEveryKindIsReadFromAFile(t *testing.T) {
	a, _ := load(t, config.Options{Data: []byte(`
name: 0123      # texts are texts, whatever they look like
count: 1_000
small: -128
large: 65535
share: 2.5e-1
quiet: true
words: [one, "two, three", 4]
sizes: [64MiB, -1, 1gb]
marks: {a: b, 1: 2, true: false}
token: t
keys: [k]
disk:
  wait: 7d12h
  deep:
    alone: |
      text
peers:
  - id: p
    url: https://u:p@h/
    head:
      X: y
    tries:
  - {}
`)})
	want := all{
		Name: "0123", Count: 1000, Small: -128, Large: 65535, Share: .25, Quiet: true,
		Words: []string{"one", "two, three", "4"}, Sizes: []bin.Size{64 << 20, -1, 1e9},
		Marks: map[string]string{"a": "b", "1": "2", "true": "false"}, Token: "t", Keys: []bin.Secret{bin.NewSecret("k")},
		Disk: store{MaxBytes: 64 << 20, Wait: 180 * time.Hour, Deep: deep{Level: 3, Alone: "text\n"}},
		Peers: []peer{
			{ID: "p", URL: source.NewURL("https://u:p@h/"), Head: map[string]bin.Secret{"X": bin.NewSecret("y")}, Tries: 2, Store: store{MaxBytes: 64 << 20, Deep: deep{Level: 3}}},
			{Tries: 2, Store: store{MaxBytes: 64 << 20, Deep: deep{Level: 3}}},
		},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("got  %+v\nwant %+v", a, want)
	}
}

func TestLaterInputWins(t *testing.T) {
	o := config.Options{
		Data:    []byte("name: file\ncount: 1\nshare: 1\nquiet: true\ndisk: {max_bytes: 1KiB}\n"),
		Foreign: []config.Foreign{{Name: "OTHER", Key: "count", Value: "2"}, {Name: "OTHER2", Key: "share", Value: "2"}},
		Environ: []string{"SYMBOLON_COUNT=9", "SYMBOLON_COUNT=3", "SYMBOLON_NAME=", "SYMBOLON_DISK_MAX_BYTES=2KiB", "no assignment"},
		Sets:    []string{"disk.max_bytes=3KiB", "disk.max_bytes=4KiB"},
	}
	a, loaded := load(t, o)
	if a.Name != "file" || a.Count != 3 || a.Share != 2 || !a.Quiet || a.Disk.MaxBytes != 4<<10 {
		t.Errorf("got %+v", a)
	}
	want := map[string]string{
		"name": "x.yaml:1:7", "count": "environment SYMBOLON_COUNT", "share": "environment OTHER2",
		"quiet": "x.yaml:4:8", "disk.max_bytes": "flag",
	}
	if !reflect.DeepEqual(loaded.Origins, want) {
		t.Errorf("origins %v, want %v", loaded.Origins, want)
	}
}

func TestValuesOfTheDestinationAreDefaults(t *testing.T) {
	a := all{Name: "before", Count: 1, Marks: map[string]string{"a": "1"}, Kept: 5}
	marks := a.Marks
	if _, err := config.Load(&a, config.Options{Sets: []string{"count=2", "marks.b.c=2"}}); err != nil {
		t.Fatal(err)
	}
	if a.Name != "before" || a.Count != 2 || a.Kept != 5 || !reflect.DeepEqual(a.Marks, map[string]string{"a": "1", "b.c": "2"}) {
		t.Errorf("got %+v", a)
	}
	if len(marks) != 1 {
		t.Error("the map of the caller was changed")
	}
}

func TestAFailedLoadHasWhatCouldBeRead(t *testing.T) {
	a := all{Name: "before"}
	if _, err := config.Load(&a, config.Options{Data: []byte("name: after\ncount: x\n"), Sets: []string{"small=2"}}); err == nil {
		t.Fatal("no error")
	}
	if a.Name != "after" || a.Count != 0 || a.Small != 2 {
		t.Errorf("got %+v", a)
	}
}

func TestListsAndMapsInVariablesAndFlags(t *testing.T) {
	o := config.Options{
		Data: []byte("words: [gone]\nmarks: {gone: 1}\npeers: [{id: gone, tries: 9, url: https://gone/}]\n"),
		Environ: []string{
			"SYMBOLON_WORDS= a, b ,,c", "SYMBOLON_MARKS=a=1, b=x=y", `SYMBOLON_SIZES=[1KiB, "2KiB"]`,
			"SYMBOLON_PEERS=[{id: new, head: {A: b}}]",
		},
		Sets: []string{"marks={c: 3}", "keys=", "marks.d=4, 5"},
	}
	a, loaded := load(t, o)
	if !reflect.DeepEqual(a.Words, []string{"a", "b", "c"}) || !reflect.DeepEqual(a.Sizes, []bin.Size{1 << 10, 2 << 10}) {
		t.Errorf("lists: %+v %+v", a.Words, a.Sizes)
	}
	if !reflect.DeepEqual(a.Marks, map[string]string{"c": "3", "d": "4, 5"}) {
		t.Errorf("marks: %+v", a.Marks)
	}
	if len(a.Peers) != 1 || a.Peers[0].ID != "new" || a.Peers[0].Head["A"].Reveal() != "b" || !a.Peers[0].URL.IsZero() {
		t.Errorf("peers: %+v", a.Peers)
	}
	if _, old := loaded.Origins["peers[0].tries"]; old {
		t.Error("the origin of a value that was replaced is still there")
	}
	b, _ := load(t, config.Options{Environ: []string{"SYMBOLON_MARKS=a=1, b=x=y", "SYMBOLON_WORDS=[]"}})
	if !reflect.DeepEqual(b.Marks, map[string]string{"a": "1", "b": "x=y"}) || len(b.Words) != 0 {
		t.Errorf("got %+v", b)
	}
}

func TestNullIsNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "null\n", "name:\ncount: ~\ndisk: null\nwords:\npeers:\nmarks:\n"} {
		a, loaded := load(t, config.Options{Data: []byte(text)})
		if want := (all{Disk: store{MaxBytes: 64 << 20, Deep: deep{Level: 3}}}); !reflect.DeepEqual(a, want) || len(loaded.Origins) != 0 {
			t.Errorf("%q: got %+v from %v", text, a, loaded.Origins)
		}
	}
}

func TestAnchorsAndMergeKeys(t *testing.T) {
	a, _ := load(t, config.Options{Data: []byte(`
disk: &d
  max_bytes: &size 1KiB
  deep: {level: 4}
sizes: [*size, *size]
peers:
  - id: one
    store: *d
  - id: two
    store:
      <<: *d
      wait: 5s
      max_bytes: 2KiB
  - id: three
    store: {<<: [{wait: 6s}, *d]}
`)})
	if a.Sizes[1] != 1<<10 || a.Peers[0].Store != a.Disk {
		t.Errorf("aliases: %+v", a)
	}
	if got, want := a.Peers[1].Store, (store{MaxBytes: 2 << 10, Wait: 5 * time.Second, Deep: deep{Level: 4}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := a.Peers[2].Store, (store{MaxBytes: 1 << 10, Wait: 6 * time.Second, Deep: deep{Level: 4}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestExpansion(t *testing.T) {
	env := []string{"A=1", "EMPTY=", "DEEP=${A}", "SYMBOLON_TOKEN=${A}"}
	for text, want := range map[string]string{
		"x${A}y${A}":        "x1y1",
		"${MISSING:-7}":     "7",
		"${EMPTY:-7}":       "7",
		"${EMPTY}":          "",
		"${MISSING:-}":      "",
		"${A:-7}":           "1",
		"$${A}":             "${A}",
		"$$${A}":            "$${A}",
		"$A $ {A} $":        "$A $ {A} $",
		"${DEEP}":           "${A}",
		"${MISSING:-a:-b}c": "a:-bc",
	} {
		a, _ := load(t, config.Options{Environ: env, Data: fmt.Appendf(nil, "name: '%s'\n", text)})
		if a.Name != want {
			t.Errorf("%s: got %q, want %q", text, a.Name, want)
		}
		if a.Token != "${A}" {
			t.Errorf("the value of a variable was expanded: %q", a.Token)
		}
	}
	a, _ := load(t, config.Options{
		Environ: []string{"N=5", "S=1MiB", "W=w"},
		Data:    []byte("count: ${N}\nwords: [\"${W}\", x$W]\nmarks: {k: '${W}'}\ndisk: {max_bytes: '${S}'}\n"),
	})
	if a.Count != 5 || a.Disk.MaxBytes != 1<<20 || !reflect.DeepEqual(a.Words, []string{"w", "x$W"}) || a.Marks["k"] != "w" {
		t.Errorf("got %+v", a)
	}
}

func TestUnknownVariablesAreNotices(t *testing.T) {
	_, loaded := load(t, config.Options{Environ: []string{
		"SYMBOLON_DISK_MAX_BYTE=1", "SYMBOLON_ZZZZZZ=secret", "SYMBOLON_DISK=x", "SYMBOLON_GONE=", "OTHER=1", "SYMBOLON_NAMES=a",
		"SYMBOLON_PUSH=a", "SYMBOLON_PUSH_KYE=a",
	}, Others: []string{"SYMBOLON_PUSH", "SYMBOLON_PUSH_KEY"}})
	want := []string{
		"unknown variable SYMBOLON_DISK",
		"unknown variable SYMBOLON_DISK_MAX_BYTE; did you mean SYMBOLON_DISK_MAX_BYTES?",
		"unknown variable SYMBOLON_NAMES; did you mean SYMBOLON_NAME?",
		"unknown variable SYMBOLON_PUSH_KYE; did you mean SYMBOLON_PUSH_KEY?",
		"unknown variable SYMBOLON_ZZZZZZ",
	}
	if !reflect.DeepEqual(loaded.Notices, want) {
		t.Errorf("got  %q\nwant %q", loaded.Notices, want)
	}
}

func TestAZeroThatIsADefaultIsANotice(t *testing.T) {
	_, loaded := load(t, config.Options{Data: []byte("count: 0\ndisk: {max_bytes: 0}\npeers: [{tries: 0}]\n")})
	want := []string{
		"x.yaml:2:19: the value of disk.max_bytes means the default, 64MiB",
		"x.yaml:3:17: the value of peers[0].tries means the default, 2",
	}
	if !reflect.DeepEqual(loaded.Notices, want) {
		t.Errorf("got  %q\nwant %q", loaded.Notices, want)
	}
	if loaded.Origins["disk.max_bytes"] != "" || loaded.Origins["count"] == "" {
		t.Errorf("origins %v", loaded.Origins)
	}
}

func TestErrorsAreFaults(t *testing.T) {
	var a all
	_, err := config.Load(&a, config.Options{File: "f", Data: []byte("nam: x\n")})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Malformed || f.Place != "f:1:1" {
		t.Errorf("got %#v", err)
	}
}

func TestStructsThatNoFileCanFillPanic(t *testing.T) {
	for _, v := range []any{
		&struct{ Untagged int }{},
		&struct {
			P *int `yaml:"p"`
		}{},
		&struct {
			A int `yaml:"a"`
			B int `yaml:"a"`
		}{},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "config: ") {
					t.Errorf("%T: no panic of ours: %q", v, text)
				}
			}()
			config.Keys(v)
		}()
	}
}
