package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/cache/shared"
)

// Every key of ours that one of Symbolicator's leads to is there.
func TestKeysOfSymbolicatorLeadSomewhere(t *testing.T) {
	known := map[string]bool{}
	for _, k := range Keys(Config{}) {
		known[k.Path] = true
	}
	for theirs, m := range symbolicator {
		if len(m.keys) == 0 && m.why == "" {
			t.Errorf("%s leads nowhere and does not say why", theirs)
		}
		for _, ours := range append(slices.Collect(maps.Keys(m.also)), m.keys...) {
			if !known[ours] {
				t.Errorf("%s leads to %s, which is not a key", theirs, ours)
			}
		}
	}
}

const theirs = `
bind: "127.0.0.1:3022"
cache_dir: /var/cache/x
logging: {level: trace, format: simplified, enable_backtraces: true}
metrics: {statsd: "127.0.0.1:8125"}
sentry_dsn: ${DSN}
symstore_proxy: false
connect_to_reserved_ips: true
max_concurrent_requests: null
max_download_timeout: 1h 30m
max_download_size: 40000
deny_list_enabled: false
deny_list_never_block_hosts: [proxy.test, "other.test:8080"]
symbolicate_body_max_bytes: 10240
crash_file_body_max_bytes: 20480
caches:
  downloaded: {max_unused_for: 2 days, retry_misses_after: 5min, retry_misses_after_public: null}
  derived: {max_unused_for: 1w, retry_misses_after: 1h, retry_misses_after_public: 1h, retry_malformed_after: null, max_lazy_recomputations: 20}
  index: {retry_misses_after: 10m}
  in_memory: {object_meta_capacity: 5, sentry_index_ttl: 5m}
sources:
  - id: a
    type: http
    url: https://${HOST}/x
    oddity: 1
    layout: {type: symstore, casing: uppercase}
    filters: {filetypes: [pdb, pe], new_filter: 3}
    is_public: true
brand_new: {key: 1}
`

func TestAConfigurationOfSymbolicatorIsReadAsItIs(t *testing.T) {
	c, loaded, err := Read(Options{
		Symbolicator: []byte(theirs), SymbolicatorFile: "theirs.yml", Environ: []string{"HOST=symbols.test", "DSN=x"},
		Sets: []string{"data=/elsewhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"bind":                 c.HTTP.Listen == "127.0.0.1:3022",
		"a flag wins":          c.Data == "/elsewhere",
		"level":                c.Log.Level == "debug" && c.Log.Format == "text",
		"proxy":                c.Sentry.DisableProxy,
		"reserved":             c.Network.ConnectToReservedIPs,
		"no bound":             c.Sentry.MaxConcurrentRequests == -1,
		"download":             c.Network.MaxDownloadTimeout == 90*time.Minute && c.Network.MaxDownloadSize == 40000,
		"no deny list":         c.Network.DenyListThreshold == -1,
		"always asked":         len(c.Network.DenyListNeverBlock) == 2 && c.Network.DenyListNeverBlock[1] == "other.test:8080",
		"lists":                c.Network.SentryIndexTTL == 5*time.Minute,
		"body":                 c.Sentry.MaxBody == 10240,
		"crash files":          c.Crash.MaxDump == 20480,
		"objects":              c.Cache.Disk.ObjectsIdle == 48*time.Hour,
		"tables":               c.Cache.Disk.SymcacheIdle == 7*24*time.Hour && c.Cache.Disk.MetaIdle == 7*24*time.Hour,
		"misses":               c.Cache.Lifetimes.NotFound == 5*time.Minute && c.Cache.Lifetimes.Denied == 5*time.Minute,
		"public misses":        c.Cache.Lifetimes.NotFoundPublic == 36500*24*time.Hour,
		"sources from clients": c.Sentry.AllowRequestSources,
		"the source": len(c.Sources) == 1 && c.Sources[0].URL.Reveal() == "https://symbols.test/x" && c.Sources[0].Layout.Type == "symstore" &&
			len(c.Sources[0].Filters.FileTypes) == 2 && c.Sources[0].IsPublic,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
	all := strings.Join(loaded.Notices, "\n")
	for _, want := range []string{
		"allow_request_sources is on", "logging.enable_backtraces is not needed", "metrics is not served", "sentry_dsn is not served",
		"caches.derived.retry_misses_after has no counterpart: failures are remembered for files", "caches.derived.retry_misses_after_public has no counterpart",
		"caches.derived.retry_malformed_after has no counterpart", "caches.derived.max_lazy_recomputations is not needed", "caches.index has no counterpart",
		"caches.in_memory.object_meta_capacity has no counterpart", "sources.oddity is not known here",
		"sources.filters.new_filter is not known here", "brand_new is not a known key of Symbolicator", "theirs.yml:",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the notices do not say %q:\n%s", want, all)
		}
	}
}

// Only brand_new is unknown.
func TestKeysOfSymbolicatorAreKnown(t *testing.T) {
	_, loaded, err := Read(Options{Symbolicator: []byte(theirs), SymbolicatorFile: "theirs.yml", Environ: []string{"HOST=symbols.test", "DSN=x"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range loaded.Notices {
		if strings.Contains(n, "is not a known key of Symbolicator") && !strings.Contains(n, "brand_new") {
			t.Error(n)
		}
	}
}

// A time of 0 means the default in a file of ours.
func TestATimeOfZeroOfSymbolicatorIsNotRemembered(t *testing.T) {
	c, loaded, err := Read(Options{SymbolicatorFile: "theirs.yml", Symbolicator: []byte(`caches:
  downloaded: {retry_misses_after: 0s, retry_misses_after_public: 0h 0m, retry_malformed_after: 0s}
  in_memory: {sentry_index_ttl: 0s}
`)})
	if err != nil {
		t.Fatal(err)
	}
	lives := c.Cache.Lifetimes
	for key, got := range map[string]time.Duration{
		"not_found": lives.NotFound, "denied": lives.Denied, "timeout": lives.Timeout, "transport": lives.Transport,
		"not_found_public": lives.NotFoundPublic, "malformed": lives.Malformed, "unsupported": lives.Unsupported,
		"sentry_index_ttl": c.Network.SentryIndexTTL,
	} {
		if got != -1 {
			t.Errorf("%s is %v, want -1", key, got)
		}
	}
	if len(loaded.Notices) != 1 { // that on sources of requests
		t.Errorf("got notices %q, want one", loaded.Notices)
	}
}

func TestEmptySectionsOfSymbolicatorAreDefaults(t *testing.T) {
	const text = "logging: null\nmetrics:\nsources:\nshared_cache: null\ncaches: {downloaded: null, derived: , index: null, diagnostics: null, in_memory: null}\n"
	for _, text := range []string{text, "caches: null\nbind: null\n", "shared_cache: {gcs: null, filesystem: }"} {
		c, loaded, err := Read(Options{Symbolicator: []byte(text), SymbolicatorFile: "theirs.yml"})
		if err != nil || c.HTTP.Listen == "" || c.Log.Level != "info" {
			t.Errorf("%s: %+v, %v", text, c, err)
		} else if len(loaded.Notices) != 1 { // that on sources of requests
			t.Errorf("%s: %q", text, loaded.Notices)
		}
	}
}

func TestTheSharedCacheOfSymbolicatorIsOurs(t *testing.T) {
	for text, want := range map[string]shared.Config{
		"shared_cache: {filesystem: {path: /x}, max_upload_queue_size: 400}": {Path: "/x"},
		"shared_cache: {gcs: {bucket: b, service_account_path: /a.json}}":    {Type: "gcs", Bucket: "b", GoogleProvider: "ambient"},
	} {
		c, _, err := Read(Options{Symbolicator: []byte(text), SymbolicatorFile: "f"})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if c.Cache.Shared != want.Defaults() {
			t.Errorf("%s: %+v", text, c.Cache.Shared)
		}
	}
}

// Settings that Symbolicator ignores do not keep the server from starting.
func TestSourcesOfSymbolicatorAreReadAsTheyAre(t *testing.T) {
	c, loaded, err := Read(Options{SymbolicatorFile: "theirs.yml", Environ: []string{"KEY=canary"}, Symbolicator: []byte(`sources:
- {id: a, type: http, url: https://a.test/, headers: {"Bad Header": "${KEY}", good: "${KEY}"}, path: /x}
- {id: a, type: filesystem, path: /nonexistent}
- {id: a-2, type: gcs, bucket: b, client_email: a@b, bearer_token: "${KEY}"}
- {id: a, type: s3, bucket: b, region: r, access_key: "${KEY}"}
`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Sources {
		got = append(got, fmt.Sprintf("%s path=%q headers=%d good=%q email=%q token=%q key=%v", s.ID, s.Path, len(s.Headers),
			s.Headers["good"].Reveal(), s.ClientEmail, s.BearerToken.Reveal(), !s.AccessKey.IsZero()))
	}
	want := []string{
		`a path="" headers=1 good="canary" email="" token="" key=false`,
		`a-3 path="/nonexistent" headers=0 good="" email="" token="" key=false`,
		`a-2 path="" headers=0 good="" email="" token="canary" key=false`,
		`a-4 path="" headers=0 good="" email="" token="" key=false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	all := strings.Join(loaded.Notices, "\n")
	for _, want := range []string{
		`theirs.yml:2:3: sources[0]: header "Bad "… cannot be sent, and is left out`,
		`theirs.yml:2:3: sources[0]: path is for type filesystem, not for http, and is left out`,
		`theirs.yml:3:3: sources[1]: it has the id of an earlier one, "a", and is called "a-3" here`,
		`theirs.yml:4:3: sources[2]: client_email is not used`,
		`theirs.yml:5:3: sources[3]: access_key is one half of a key pair`,
		`theirs.yml:5:3: sources[3]: it has the id of an earlier one, "a", and is called "a-4" here`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the notices do not say %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "canary") {
		t.Errorf("the notices show a secret:\n%s", all)
	}
}

func TestWrongConfigurationsOfSymbolicator(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "has no keys",
		"- a":                           "has no keys",
		"connect_timeout: soon":         `connect_timeout is "soon", which Symbolicator does not accept`,
		"symstore_proxy: maybe":         "does not accept",
		"max_download_size: x":          "network.max_download_size",
		"sources: [{id: a, type: ftp}]": `"ftp"`,
		"sources: [{type: http, url: 'http://a.test'}, {type: http, url: 'http://a.test'}]": "a source has no id",
		"sources: [{id: a, type: gcs, bucket: b, client_email: x}]":                         "must be set together",
		"caches: [x]":    "caches is a list: must be a section",
		"logging: debug": `logging is "debug": must be a section`,
		"sources: 5":     "sources is",
		"sources: [{id: a, type: s3, bucket: b, region: }]":                 "f:1:40: malformed: invalid sources[0].region: must be a name, or a list of a name and an address",
		"sources: [{id: a, type: s3, bucket: b, region: [honk]}]":           "invalid sources[0].region: must be",
		"sources: [{id: a, type: s3, bucket: b, region: [a, 'b.test', c]}]": "invalid sources[0].region: must be",
	} {
		_, _, err := Read(Options{Symbolicator: []byte(text), SymbolicatorFile: "f"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTimesOfPeople(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1h": time.Hour, "500ms": 500 * time.Millisecond, "1h 30m": 90 * time.Minute, "2days": 48 * time.Hour, "1week 1 sec": 7*24*time.Hour + time.Second,
		"15min": 15 * time.Minute, "1d12h": 36 * time.Hour, "0": 0, "0s": 0, "1.5h": 90 * time.Minute, "0.1 sec 2.25 days": 54*time.Hour + 100*time.Millisecond,
		"2wks": 14 * 24 * time.Hour, "3 millis 5µs 7nanos": 3_005_007, "2 yrs": 2 * 31_557_600 * time.Second,
	} {
		if got, ok := humanTime(text); !ok || got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "h", "5", "5 parsecs", "-1h", "99999999999h", "1.2.3h", ".h", "00", "2147483647y", "140y 140y"} {
		if got, ok := humanTime(text); ok || got < 0 {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestHTTPSOfSymbolicatorIsTLS(t *testing.T) {
	c, loaded, err := Read(Options{SymbolicatorFile: "theirs.yml", Symbolicator: []byte(
		"bind: 127.0.0.1:80\nbind_https: 127.0.0.1:443\nserver_config: {https: {certificate_path: a.pem, key_path: b.pem}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	if want := (api.TLSConfig{Address: "127.0.0.1:443", Certificate: "a.pem", Key: "b.pem"}); c.HTTP.TLS != want || c.HTTP.Listen != "127.0.0.1:80" {
		t.Errorf("got %+v", c.HTTP)
	}
	if len(loaded.Notices) != 1 { // that on sources of requests
		t.Errorf("notices: %q", loaded.Notices)
	}
}
