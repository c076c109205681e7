//go:build kit

package reason_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/crash/reason"
	"symbolon/internal/ident"
)

// The kit, which SYMBOLON_CONFORMANCE names, has recorded the reasons and
// addresses that rust-minidump and Breakpad print for its dumps.
func TestReasonsOfTheKit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("SYMBOLON_CONFORMANCE"), "crash", "cases", "*", "stackwalk.json"))
	if err != nil || len(files) < 90 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		var peer struct {
			Info struct {
				Type, Address *string
			} `json:"crash_info"`
			System struct {
				OS  string
				CPU string `json:"cpu_arch"`
			} `json:"system_info"`
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &peer)
		}
		dump, err2 := os.ReadFile(filepath.Join(filepath.Dir(file), "dump.dmp"))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if peer.Info.Type == nil {
			continue
		}
		e := exception(dump)
		e.Arch = ident.ParseArch(peer.System.CPU)
		e.System = map[string]reason.System{
			"Windows NT": reason.Windows, "Linux": reason.Linux, "Android": reason.Linux, "Mac OS X": reason.Apple, "iOS": reason.Apple,
		}[peer.System.OS]
		if got := e.String(); got != *peer.Info.Type {
			t.Errorf("%s: %q, not %q", file, got, *peer.Info.Type)
		}
		if got := fmt.Sprintf("0x%0*x", len(*peer.Info.Address)-2, e.CrashAddress()); got != *peer.Info.Address {
			t.Errorf("%s: %s, not %s", file, got, *peer.Info.Address)
		}
		machine, err := os.ReadFile(filepath.Join(filepath.Dir(file), "breakpad-m.txt"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(machine)) {
			if f := strings.Split(line, "|"); f[0] == "Crash" && f[1] != e.Breakpad() {
				t.Errorf("%s: Breakpad's %q, not %q", file, e.Breakpad(), f[1])
			}
		}
	}
}

// exception reads the exception stream of a dump.
func exception(dump []byte) (e reason.Exception) {
	order := binary.ByteOrder(binary.LittleEndian)
	if dump[0] == 'P' {
		order = binary.BigEndian
	}
	count, at := order.Uint32(dump[8:]), order.Uint32(dump[12:])
	for i := uint32(0); i < count && int(at+12*i+12) <= len(dump); i++ {
		entry := dump[at+12*i:]
		if order.Uint32(entry) != 6 {
			continue
		}
		r := dump[order.Uint32(entry[8:])+8:]
		e.Code, e.Flags, e.Address, e.Count = order.Uint32(r), order.Uint32(r[4:]), order.Uint64(r[16:]), int(order.Uint32(r[24:]))
		for k := range e.Params {
			e.Params[k] = order.Uint64(r[32+8*k:])
		}
		break
	}
	return e
}
