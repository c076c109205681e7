package source_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

func server() source.Config {
	return source.Config{ID: "s", Type: source.HTTP, URL: source.NewURL("https://host/")}
}

func TestWrongConfigurationsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*source.Config){
		"has no id": func(c *source.Config) { c.ID = "" },
		"the type is missing: must be one of http, filesystem, s3, gcs, sentry": func(c *source.Config) { c.Type = "" },
		`invalid type "ftp": must be one of http, file`:                         func(c *source.Config) { c.Type = "ftp" },
		"the url is missing":                                       func(c *source.Config) { c.URL = source.URL{} },
		"the url must begin with http:":                            func(c *source.Config) { c.URL = source.NewURL("127.0.0.1:4328") },
		"the url must begin with http":                             func(c *source.Config) { c.URL = source.NewURL("ftp://host/") },
		"invalid url":                                              func(c *source.Config) { c.URL = source.NewURL("http://u:" + canary + "@host/%zz") },
		"path is for type filesystem, not for http":                func(c *source.Config) { c.Path = "/x" },
		"url is for type http, gcs and sentry, not for filesystem": func(c *source.Config) { c.Type = source.Filesystem },
		"its id has more than 256 bytes":                           func(c *source.Config) { c.ID = strings.Repeat("i", 257) },
		"url has more than 4096 bytes":                             func(c *source.Config) { c.URL = source.NewURL("https://host/" + strings.Repeat("p", 4096)) },
		"prefix has more than 4096 bytes": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", Prefix: strings.Repeat("p", 4097)}
		},
		"headers and filters have more than 65536 bytes": func(c *source.Config) {
			c.Headers = map[string]bin.Secret{"a": bin.NewSecret(strings.Repeat("v", 40_000))}
			c.Filters.PathPatterns = []string{strings.Repeat("p", 30_000)}
		},
		"needs a path":              func(c *source.Config) { *c = source.Config{ID: "s", Type: source.Filesystem} },
		`invalid layout "breakpad"`: func(c *source.Config) { c.Layout.Type = "breakpad" },
		`invalid casing "UPPER"`:    func(c *source.Config) { c.Layout.Casing = "UPPER" },
		`invalid file type "sym"`:   func(c *source.Config) { c.Filters.FileTypes = []string{"sym"} },
		`invalid path pattern "[a"`: func(c *source.Config) { c.Filters.PathPatterns = []string{"[a"} },
		`invalid header name "X-Key:"…`: func(c *source.Config) {
			c.Headers = map[string]bin.Secret{"X-Key: " + canary: bin.NewSecret("x")}
		},
		"s3 needs a bucket":  func(c *source.Config) { *c = source.Config{ID: "s", Type: source.S3} },
		"gcs needs a bucket": func(c *source.Config) { *c = source.Config{ID: "s", Type: source.GCS} },
		"region is a name, or a list": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", Region: source.Region{"a", "b", "c"}}
		},
		`invalid aws_credentials_provider "magic"`: func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", Provider: "magic"}
		},
		"access_key and secret_key must": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", AccessKey: bin.NewSecret(canary)}
		},
		"the second part of region: the url must begin": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", Region: source.Region{"r", "ftp://" + canary}}
		},
		"the address in region cannot have user info": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", Region: source.Region{"r", "http://" + canary + "@h"}}
		},
		`invalid gcs_credentials_provider "magic"`: func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.GCS, Bucket: "b", GoogleProvider: "magic"}
		},
		"client_email and private_key must": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.GCS, Bucket: "b", PrivateKey: bin.NewSecret(canary)}
		},
		"a service account and a bearer_token": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.GCS, Bucket: "b", ClientEmail: "a", PrivateKey: bin.NewSecret(canary), BearerToken: bin.NewSecret(canary)}
		},
		"are for gcs_credentials_provider static": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.GCS, Bucket: "b", GoogleProvider: source.Ambient, BearerToken: bin.NewSecret(canary)}
		},
		"bearer_token is for type gcs": func(c *source.Config) {
			*c = source.Config{ID: "s", Type: source.S3, Bucket: "b", BearerToken: bin.NewSecret(canary)}
		},
		"header Host cannot be set":     func(c *source.Config) { c.Headers = map[string]bin.Secret{"Host": bin.NewSecret("x")} },
		"header X has a line break":     func(c *source.Config) { c.Headers = map[string]bin.Secret{"X": bin.NewSecret(canary + "\n")} },
		"Accept-Encoding cannot be set": func(c *source.Config) { c.Headers = map[string]bin.Secret{"Accept-Encoding": {}} },
	} {
		c := server()
		change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := server().Validate(); err != nil {
		t.Error(err)
	}
}

func TestFilters(t *testing.T) {
	id := debugID(t, "44E4EC8C2F41492B9369D6B9A059577C2")
	both := ident.Module{CodeFile: `C:\Program Files\Electron\App.EXE`, DebugFile: "app.pdb", DebugID: id}
	for _, c := range []struct {
		name    string
		filters source.Filters
		module  ident.Module
		want    bool
	}{
		{"none", source.Filters{}, both, true},
		{"breakpad is asked for", source.Filters{FileTypes: []string{"pe", "breakpad"}}, both, true},
		{"breakpad is not asked for", source.Filters{FileTypes: []string{"pe", "pdb"}}, both, false},
		{"star crosses slashes, case does not matter", source.Filters{PathPatterns: []string{"c:/*electron*"}}, both, true},
		{"one of the patterns, of the debug file", source.Filters{PathPatterns: []string{"x", "?pp.p[c-e]b"}}, both, true},
		{"a class turned around", source.Filters{PathPatterns: []string{"app.p[!d]b"}}, both, false},
		{"the whole path must match", source.Filters{PathPatterns: []string{"electron"}}, both, false},
		{"a module without a path", source.Filters{PathPatterns: []string{"*"}}, ident.Module{DebugID: id}, false},
	} {
		config := server()
		config.Filters = c.filters
		if got := len(config.Paths(c.module, source.Breakpad)) > 0; got != c.want {
			t.Errorf("%s: asked %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatASourceIsAskedHasOneText(t *testing.T) {
	seen := map[string]int{}
	for i, f := range []source.Filters{
		{}, {FileTypes: []string{"pe"}}, {PathPatterns: []string{"pe"}}, {RequiresChecksum: true},
		{PathPatterns: []string{"*harbor* *nothing*"}}, {PathPatterns: []string{"*harbor*", "*nothing*"}},
		{PathPatterns: []string{`*harbor*" "*nothing*`}}, {PathPatterns: []string{"*harbor*] false [*nothing*"}},
		{FileTypes: []string{"pe pdb"}}, {FileTypes: []string{"pe", "pdb"}},
	} {
		c := server()
		c.Filters = f
		if other, there := seen[c.Asks()]; there {
			t.Errorf("filters %d and %d have one text: %s", other, i, c.Asks())
		}
		seen[c.Asks()] = i
	}
}

func TestSpecs(t *testing.T) {
	folder := t.TempDir()
	for spec, want := range map[string]source.Config{
		"mozilla":                       {ID: "mozilla", Type: "http", URL: source.NewURL("https://symbols.mozilla.org/try/"), IsPublic: true},
		"https://host:1/a/":             {ID: "host:1/a", Type: "http", URL: source.NewURL("https://host:1/a/")},
		"HTTP://u:p@host?k=v":           {ID: "host", Type: "http", URL: source.NewURL("HTTP://u:p@host?k=v")},
		"http://host/a,b,layout=native": {ID: "host/a,b", Type: "http", URL: source.NewURL("http://host/a,b")},
		folder:                          {ID: folder, Type: "filesystem", Path: folder},
		folder + "/.":                   {ID: folder, Type: "filesystem", Path: folder + "/."},
		folder + ",layout=native":       {ID: folder, Type: "filesystem", Path: folder},
	} {
		got, err := source.ParseSpec(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		layout := source.Native
		if want.Type == source.Filesystem && !strings.Contains(spec, ",layout=") {
			layout = "" // the folder shows it
		}
		want.Layout, want.Filters = source.Layout{Type: layout, Casing: source.Default}, got.Filters
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%s), want %+v (%s)", spec, got, got.URL.Reveal(), want, want.URL.Reveal())
		}
	}
}

func TestWrongSpecsAreRefusedInOneLine(t *testing.T) {
	for spec, want := range map[string]string{
		"mozila":                           `invalid source "mozila": must be a preset (mozilla, microsoft,`,
		"":                                 `invalid source ""`,
		"ftp://host/":                      `invalid scheme "ftp" of a source: must be http or https`,
		"./nowhere":                        `invalid source "./nowhere": must be an existing folder, or a URL that begins with http:// or https://`,
		"./config_test.go":                 `invalid source "./config_test.go": must be a folder, not a file`,
		"http://":                          "must begin with http://",
		"https://u:" + canary + "@host/%z": "invalid url",
		"u:" + canary + "@host/x":          "invalid source",
		"host/x?key=" + canary:             "invalid source",
		"u:" + canary + "@x://host":        "must be http or https",
		"mozilla,layout=":                  "needs a name: must be one of native, symstore,",
		"mozilla,layout=x":                 `invalid layout "x": must be one of native, symstore,`,
	} {
		_, err := source.ParseSpec(spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", spec, err, want)
			continue
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the error has a secret: %v", spec, err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has several lines: %v", spec, err)
		}
	}
}

func TestPresetsAreValid(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range source.Presets() {
		c, err := source.ParseSpec(p.Name)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if got := c.URL.Reveal(); got != p.URL {
			t.Errorf("%s: url %s, want %s", p.Name, got, p.URL)
		}
		if c.ID != p.Name {
			t.Errorf("%s: id %s", p.Name, c.ID)
		}
		if !c.IsPublic {
			t.Errorf("%s is not public", p.Name)
		}
		if p.About == "" {
			t.Errorf("%s has no description", p.Name)
		}
		if seen[p.Name] {
			t.Errorf("%s exists twice", p.Name)
		}
		seen[p.Name] = true
	}
}

// TestPresetsAskForWhatTheirServersHave has one path of each preset.
func TestPresetsAskForWhatTheirServersHave(t *testing.T) {
	pdb := ident.Module{Type: ident.TypePE, DebugFile: "electron.pdb", DebugChecksum: "SHA256:x", CodeFile: "electron.exe", CodeID: "5ab380779000"}
	pdb.DebugID, _ = ident.ParseDebugID("3249d99d-0c40-4931-8610-f4e4fb0b6936-1")
	elf := ident.Module{Type: ident.TypeELF, CodeFile: "libm.so", DebugFile: "libm.so", CodeID: "dfb85de42daffd09640c8fe377d572de3e168920"}
	const path = "electron.pdb/3249D99D0C4049318610F4E4FB0B69361/electron.pdb"
	for _, c := range []struct {
		preset, kind string
		m            ident.Module
		want         string // the first path, none if it is not asked for
	}{
		{"microsoft", source.PDB, pdb, path}, {"microsoft", source.PE, pdb, "electron.exe/5AB380779000/electron.exe"}, {"microsoft", source.ELFDebug, elf, ""},
		{"nuget", source.PortablePDB, pdb, path}, {"nuget", source.PDB, pdb, ""}, {"nuget", source.PortablePDB, ident.Module{DebugFile: "a.pdb", DebugID: pdb.DebugID}, ""},
		{"citrix", source.PDB, pdb, path}, {"intel", source.PDB, pdb, path}, {"amd", source.PDB, pdb, path}, {"nvidia", source.PDB, pdb, path},
		{"chromium", source.PDB, pdb, path}, {"unity", source.PDB, pdb, path}, {"autodesk", source.PDB, pdb, path}, {"autodesk", source.ELFCode, elf, "libm.so/elf-buildid-dfb85de42daffd09640c8fe377d572de3e168920/libm.so"},
		{"mozilla", source.PDB, pdb, path}, {"mozilla", source.Breakpad, pdb, "electron.pdb/3249D99D0C4049318610F4E4FB0B69361/electron.sym"}, {"mozilla", source.SourceBundle, pdb, ""},
		{"electron", source.PDB, pdb, path}, {"electron", source.PDB, ident.Module{Type: ident.TypePE, DebugFile: "other.pdb", DebugID: pdb.DebugID}, ""}, {"electron", source.PE, pdb, ""},
		{"ubuntu", source.ELFDebug, elf, "dfb85de42daffd09640c8fe377d572de3e168920/debuginfo"}, {"debuginfod", source.ELFCode, elf, "dfb85de42daffd09640c8fe377d572de3e168920/executable"}, {"debuginfod", source.PDB, pdb, ""},
	} {
		cfg, err := source.ParseSpec(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if paths := cfg.Paths(c.m, c.kind); len(paths) > 0 {
			got = paths[0]
		}
		if got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.preset, c.kind, got, c.want)
		}
	}
	intel, err := source.ParseSpec("intel")
	agent := intel.Headers["User-Agent"]
	if err != nil || !intel.HasIndex || !strings.HasPrefix(agent.Reveal(), "curl/") {
		t.Errorf("intel: %+v, %v", intel, err)
	}
	if c, err := source.ParseSpec("microsoft,layout=ssqp"); err != nil || c.Layout.Type != source.SSQP {
		t.Errorf("microsoft in another layout: %+v, %v", c, err)
	}
}

func TestRegionOfARequestIsATextOrAList(t *testing.T) {
	for text, want := range map[string]source.Region{
		`"eu-west-1"`: {"eu-west-1"}, `["any", "http://minio:9000"]`: {"any", "http://minio:9000"}, `null`: nil, `[]`: {},
	} {
		var c source.Config
		if err := json.Unmarshal([]byte(`{"region":`+text+`,"bucket":"b","access_key":"`+canary+`"}`), &c); err != nil || !slices.Equal(c.Region, want) {
			t.Errorf("%s: %q, %v", text, c.Region, err)
		}
		if out, err := json.Marshal(c); err != nil || strings.Contains(string(out), canary) {
			t.Errorf("%s, %v", out, err)
		}
	}
	for _, text := range []string{"1", `{"a":1}`, `[1]`, `[["a"]]`} {
		var c source.Config
		if err := json.Unmarshal([]byte(`{"region":`+text+`}`), &c); err == nil {
			t.Errorf("%s is %q", text, c.Region)
		}
	}
}

func TestSourceThatNeedsABuildIDSaysSo(t *testing.T) {
	id := ident.BuildID("caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d")
	debug := ident.Module{DebugFile: "kiln", DebugID: id.DebugID(false)}
	both, pdb, typed := debug, debug, debug
	both.CodeID = id.CodeID()
	pdb.DebugID = ident.NewDebugID(debug.DebugID.UUID(), 1)
	typed.Type = ident.TypePE
	for _, c := range []struct {
		name   string
		layout string
		m      ident.Module
		kinds  []string
		want   bool
	}{
		{"a debug id alone", source.Debuginfod, debug, []string{source.Breakpad, source.ELFDebug}, true},
		{"no ELF file is wanted", source.Debuginfod, debug, []string{source.Breakpad, source.PDB}, false},
		{"a build id is there", source.Debuginfod, both, []string{source.ELFDebug}, false},
		{"the id of a PDB", source.Debuginfod, pdb, []string{source.ELFDebug}, false},
		{"a module of Windows", source.Debuginfod, typed, []string{source.ELFDebug}, false},
	} {
		cfg := source.Config{ID: "s", Type: source.HTTP, Layout: source.Layout{Type: c.layout}}
		if err := cfg.Unasked(c.m, c.kinds); errors.Is(err, source.ErrNoBuildID) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestRequestsCannotHaveSymlinksFollowed(t *testing.T) {
	var c source.Config
	if err := json.Unmarshal([]byte(`{"id":"s","type":"filesystem","path":"/x","follow_symlinks":true}`), &c); err != nil || c.FollowSymlinks {
		t.Errorf("follow_symlinks is %v, error %v", c.FollowSymlinks, err)
	}
}

func TestPlaceHasNoSecrets(t *testing.T) {
	for want, c := range map[string]source.Config{
		"https://symbols.example.com/a":             {Type: source.HTTP, URL: source.NewURL("https://user:pass@symbols.example.com/a?key=one")},
		"/srv/symbols":                              {Type: source.Filesystem, Path: "/srv/symbols"},
		"s3://depot":                                {Type: source.S3, Bucket: "depot", SecretKey: bin.NewSecret("hidden")},
		"s3://depot/deep at https://s3.example.com": {Type: source.S3, Bucket: "depot", Prefix: "deep", Region: source.Region{"here", "https://s3.example.com"}},
		"gs://depot at https://gcs.example.com/":    {Type: source.GCS, Bucket: "depot", URL: source.NewURL("https://gcs.example.com/?key=one")},
	} {
		if got := c.Place(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
