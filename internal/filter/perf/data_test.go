package perf_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/filter"
	"symbolon/internal/filter/perf"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

var le = binary.LittleEndian

// dataRecord returns a record of perf.data.
func dataRecord(kind uint32, misc uint16, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	head := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, kind), misc), uint16(8+len(body)))
	return append(head, body...)
}

// idRecord returns a record of a list of build ids.
func idRecord(misc uint16, id string, path string) []byte {
	raw := make([]byte, 24)
	n, _ := hex.Decode(raw, []byte(id))
	raw[20] = byte(n)
	return dataRecord(0, misc, []byte{0xff, 0xff, 0xff, 0xff}, raw, []byte(path+"\x00\x00\x00"))
}

// mapRecord returns a record of a mapping with a build id.
func mapRecord(id string, path string) []byte {
	raw := make([]byte, 24)
	n, _ := hex.Decode(raw[4:], []byte(id))
	raw[0] = byte(n)
	return dataRecord(10, 1<<14|2, make([]byte, 32), raw, make([]byte, 8), []byte(path+"\x00"))
}

// perfData returns a file of perf record with records, and a list of build ids after
// another feature.
func perfData(records, list []byte) []byte {
	data := []byte("PERFILE2")
	data = le.AppendUint64(data, 104)
	data = append(data, make([]byte, 24)...)
	data = le.AppendUint64(le.AppendUint64(data, 104), uint64(len(records)))
	data = append(data, make([]byte, 16)...)
	data = le.AppendUint64(data, 1<<1|1<<2|1<<5)
	data = append(data, make([]byte, 24)...)
	data = append(data, records...)
	for _, n := range []int{0, len(list), 0} {
		data = le.AppendUint64(le.AppendUint64(data, uint64(104+len(records)+48)), uint64(n))
	}
	return append(data, list...)
}

var perfFile = perfData(
	bytes.Join([][]byte{
		mapRecord(appID, "/srv/app"), dataRecord(9, 1<<14, make([]byte, 24)), // a sample
		dataRecord(71, 0, le.AppendUint64(nil, 5), make([]byte, 32)), []byte("trace"),
		dataRecord(10, 2, make([]byte, 64), []byte("/no/id\x00")), mapRecord("0011223344", "[kernel.kallsyms]_text"),
		mapRecord("0011223355", "/opt/foo_text"),
	}, nil),
	append(idRecord(1<<15, "00112233445566778899aabbccddeeff", "/lib/short"), idRecord(0, strings.Repeat("ab", 20), "/lib/long")...))

func TestBuildIDsOfPerfDataAreRead(t *testing.T) {
	got, err := perf.IDs(bin.Bytes(perfFile))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]ident.CodeID{"/srv/app": appID, "[kernel.kallsyms]": "0011223344", "/opt/foo_text": "0011223355",
		"/lib/short": "00112233445566778899aabbccddeeff", "/lib/long": ident.CodeID(strings.Repeat("ab", 20))}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOtherFilesHaveNoBuildIDs(t *testing.T) {
	for want, text := range map[string][]byte{
		"must be a little-endian file": append([]byte("PERFILE2\x10"), make([]byte, 200)...),
		"is cut off":                   perfFile[:200],
		"record of 0 bytes":            perfData(make([]byte, 16), nil),
		"record of 32 bytes":           perfData(dataRecord(9, 0, make([]byte, 24))[:20], nil),
	} {
		if _, err := perf.IDs(bin.Bytes(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want an error of one line with %q", err, want)
		}
	}
}

func TestRecordingsOfPerfHaveBuildIDs(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"-g", "--buildid-mmap"} {
		folder, names := record(t, option)
		text, err := os.ReadFile(filepath.Join(folder, "data"))
		if errors.Is(err, fs.ErrNotExist) {
			t.Fatal("perf has not written a file")
		}
		ids, err := perf.IDs(bin.Bytes(text))
		if err != nil {
			t.Fatal(err)
		}
		path, err := filepath.EvalSymlinks(filepath.Join(folder, "stripped"))
		if err != nil {
			t.Fatal(err)
		}
		list := proctest.Run(t, folder, "perf", "buildid-list", "-i", "data")
		if id := ids[path]; id == "" || !slices.Contains(strings.Fields(list), string(id)) {
			t.Errorf("perf record %s: %s has the id %q, but in perf buildid-list\n%s", option, path, id, list)
		}
		run := &filter.Run{Names: names, Known: map[string]ident.Module{path: {CodeID: ids[path]}}}
		if got := script(t, run, folder, "--show-mmap-events"); strings.Count(got, " work (") < 10 {
			t.Errorf("perf record %s: too few names in\n%.2000s", option, got)
		}
	}
}

func FuzzIDs(f *testing.F) {
	f.Add(perfFile)
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, _ := perf.IDs(bin.Bytes(data))
		if len(ids) > len(data)/20 {
			t.Errorf("%d ids in %d bytes", len(ids), len(data))
		}
	})
}
