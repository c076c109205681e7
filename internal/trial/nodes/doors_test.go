//go:build unix

package nodes_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bucket/s3test"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// The files of the uploads, and their modules.
const (
	tileBuildID = "94e4559d737bc9e7"
	tileID      = "9D55E4947B73E7C900000000000000000"
	tileFileID  = "bqlC2V1S50kyf4qzspDgTw"
	tileSource  = "/corpus/src/tile.c"
	callID      = "4F916AA0A580F9594C4C44205044422E1"
	callCodeID  = "6C65755F3000"
)

func readCorpus(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../object/testdata/corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// uploaded returns a program with its sources, a PDB with its library, and a Breakpad
// file.
func uploaded(t *testing.T) []trial.Part {
	return []trial.Part{
		{Name: "tile/" + tileID + "/tile", Content: readCorpus(t, "embed-source")},
		{Name: "call-msvc.pdb/" + callID + "/call-msvc.pdb", Content: readCorpus(t, "call-msvc.pdb")},
		{Name: "call-msvc.dll/" + callCodeID + "/call-msvc.dll", Content: readCorpus(t, "call-msvc.dll")},
		{Name: strings.TrimPrefix(trial.KettlePath, "/"), Content: []byte(trial.KettleSym)},
	}
}

// reading is a request for an uploaded file, or for names from it.
type reading struct {
	name, method, path, body string
	want                     string // in the answer
}

// readings returns the requests that a server answers after an upload.
func readings(door trial.UploadDoor, parts []trial.Part) []reading {
	const isJSON, stack = "POST", `"stacks":[[[0,4576]]]`
	program := parts[0].Content
	list := []reading{
		{"v5", isJSON, "/symbolicate/v5", `{"memoryMap":[["tile","` + tileID + `"]],` + stack + `}`, `"function":"fire"`},
		{"v4", isJSON, "/symbolicate/v4", `{"version":4,"memoryMap":[["tile","` + tileID + `"]],` + stack + `}`, "fire"},
		{"Sentry", isJSON, "/symbolicate", `{"stacktraces":[{"frames":[{"instruction_addr":"0x11e0","addr_mode":"rel:0"}]}],"modules":[` +
			`{"type":"elf","code_id":"` + tileBuildID + `","image_addr":0}]}`, `"function":"fire"`},
		{"Elastic's lookup", "GET", "/api/symbols/" + tileFileID + "?addr=0x2011e0", "", `"function":"fire"`},
	}
	if door.IsForProfilers {
		return append(list,
			reading{"Elastic's mirror", "GET", "/bq/lC/" + tileFileID + "/metadata.json", "", tileFileID})
	}
	prefix := ""
	if door.Project == "default-try" {
		prefix = "/try"
	}
	files := "/api/0/projects/acme/" + door.Project + "/files/dsyms/"
	return append(list,
		reading{"debuginfod debuginfo", "GET", "/buildid/" + tileBuildID + "/debuginfo", "", string(program)},
		reading{"debuginfod executable", "GET", "/buildid/" + tileBuildID + "/executable", "", string(program)},
		reading{"debuginfod section", "GET", "/buildid/" + tileBuildID + "/section/.debug_line_str", "", "struct tile {"},
		reading{"debuginfod source", "GET", "/buildid/" + tileBuildID + "/source" + tileSource, "", "#include \"tile.h\""},
		reading{"Tecken", "GET", prefix + trial.KettlePath, "", trial.KettleSym},
		reading{"Tecken, made on demand", "GET", prefix + "/tile/" + tileID + "/tile.sym", "", "FUNC 11e0 b8 0 fire"},
		reading{"Tecken's syminfo", "GET", "/api/syminfo/kettle.so/" + trial.KettleID, "", trial.KettleID},
		reading{"symstore", "GET", "/call-msvc.pdb/" + callID + "/call-msvc.pdb", "", string(parts[1].Content)},
		reading{"symstore, library", "GET", "/call-msvc.dll/" + callCodeID + "/call-msvc.dll", "", string(parts[2].Content)},
		reading{"index2", "GET", "/ca/call-msvc.pdb/" + callID + "/call-msvc.pdb", "", string(parts[1].Content)},
		reading{"SSQP", "GET", "/tile/elf-buildid-" + tileBuildID + "/tile", "", string(program)},
		reading{"unified", "GET", "/" + tileBuildID[:2] + "/" + tileBuildID[2:] + "/executable", "", string(program)},
		reading{"Sentry's list", "GET", files + "?code_id=" + tileBuildID, "", `"codeId":"` + tileBuildID + `"`},
		reading{"Sentry's download", "GET", files + "?id=", "", string(program)},
	)
}

// ask returns what a server answers to a request.
func (r reading) ask(t *testing.T, s *trial.Server, token string) string {
	t.Helper()
	path := r.path
	if list, ok := strings.CutSuffix(path, "?id="); ok {
		var files []struct{ ID string }
		_, text, err := s.Do(trial.Request{Token: token, Method: http.MethodGet, Path: list + "?code_id=" + tileBuildID})
		if err == nil {
			err = json.Unmarshal([]byte(text), &files)
		}
		if err != nil || len(files) == 0 {
			return fmt.Sprint("no file in the list: ", text, err)
		}
		path += files[0].ID
	}
	status, text, err := s.Do(trial.Request{Token: token, Method: r.method, Path: path, Kind: "application/json", Body: []byte(r.body)})
	if err != nil {
		t.Errorf("%s: %v", r.name, err)
	}
	return fmt.Sprint(status, " ", text)
}

// isRight reports whether an answer has the file or the name.
func (r reading) isRight(answer string) bool {
	return strings.HasPrefix(answer, "200") && strings.Contains(answer, r.want)
}

// visible is the time after which an upload to one node is visible at others.
const visible = time.Second

// TestUploadsAreReadAtAnotherNode sends the same files through each interface to one of
// two nodes with one store, where each request for them was answered before. The node
// that has received them answers at once, the other one within a second.
func TestUploadsAreReadAtAnotherNode(t *testing.T) {
	inFolder := func(t *testing.T) string { return "state: " + t.TempDir() + "\n" }
	stores := map[string]func(t *testing.T) string{"folder": inFolder}
	for _, p := range append(s3test.Named(t), s3test.Run(t).Place()) {
		stores[p.Endpoint] = func(t *testing.T) string { return p.State(p.Endpoint, rand.Text()) }
	}
	for name, config := range stores {
		for _, door := range trial.UploadDoors("default") {
			t.Run(strings.ReplaceAll(name, "/", "")+"/"+door.Name, func(t *testing.T) {
				t.Parallel()
				testDoor(t, door, config(t))
			})
		}
	}
}

func testDoor(t *testing.T, door trial.UploadDoor, config string) {
	parts := uploaded(t)
	options := trial.Options{Config: config}
	a := trial.Start(t, options)
	out, errs, code := a.Run("token", "add", "--data", a.Data, "--right", "admin", "--project", "*")
	if code != 0 {
		t.Fatal(errs)
	}
	token, b := strings.TrimSpace(out), trial.Start(t, options)
	list := readings(door, parts)
	for _, r := range list {
		for _, s := range []*trial.Server{a, b} {
			if answer := r.ask(t, s, token); r.isRight(answer) {
				t.Errorf("%s: before the upload: %.300s", r.name, answer)
			}
		}
	}
	if err := door.Send(t.Context(), a, token, parts); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, r := range list {
		waittest.Until(t, "the other node answers: "+r.name, func() bool {
			isLate := time.Since(begin) > visible
			answer := r.ask(t, b, token)
			if isLate && !r.isRight(answer) {
				t.Errorf("%s: a second later the other node answers %.300q", r.name, answer)
			}
			return isLate || r.isRight(answer)
		})
	}
	t.Logf("the other node has answered all requests after %v", time.Since(begin))
	for _, r := range list {
		if answer := r.ask(t, a, token); !r.isRight(answer) {
			t.Errorf("%s: the node of the upload answers %.300q", r.name, answer)
		}
	}
}
