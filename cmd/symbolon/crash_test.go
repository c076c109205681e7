package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/cache/disk"
	"symbolon/internal/fixture"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/standin/stackwalk"
)

// writeDumps writes three dumps to a folder: linux.dmp is a null pointer read in a call
// that is inlined, windows.dmp a jump to an unloaded module, mac.dmp of a process that
// did not crash.
func writeDumps(dir string) error {
	le := binary.LittleEndian
	id, _ := hex.DecodeString("0102030405060708090a0b0c0d0e0f10")
	linux := &fixture.Minidump{Order: le, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	linux.System()
	linux.Stream(fixture.DumpLSB, "DISTRIB_ID=Forge\nDISTRIB_RELEASE=12\nDISTRIB_CODENAME=anvil\nDISTRIB_DESCRIPTION=\"Forge 12\"\n")
	linux.Stream(fixture.DumpMaps, "00400000-00402000 r-xp 00000000 08:01 1 /opt/app\n")
	linux.Stream(fixture.DumpSoftErrors, `["no memory of thread 9"]`)
	linux.Stream(0x12345678, uint32(1))
	crashed := linux.Context(map[string]uint64{"rip": 0x401012, "rsp": 0x7000, "rbx": 3})
	waiting := linux.Context(map[string]uint64{"rip": 0x500010, "rsp": 0x9000})
	linux.Threads(
		fixture.DumpThread{ID: 20, StackAddr: 0x9000, Stack: make([]byte, 16), Context: waiting},
		fixture.DumpThread{ID: 21, StackAddr: 0x7000, Stack: linux.Words(uint64(0x401105), uint64(0)), Context: crashed},
	)
	linux.Names(20, "io", "worker")
	linux.Modules(
		fixture.DumpModule{Base: 0x400000, Size: 0x2000, Name: "/opt/app", Record: linux.BuildID(id...)},
		fixture.DumpModule{Base: 0x500000, Size: 0x1000, Name: "/opt/lib.so", Record: linux.BuildID(id[:8]...), Version: []uint32{0x10002, 0x30004}},
	)
	linux.Memory(fixture.DumpRange{Addr: 0x401012, Data: []byte{0x8b, 0x10, 0x90, 0x90}}) // mov edx, [rax]
	linux.Exception(fixture.DumpCrash{Thread: 21, Code: 11, Flags: 1, Context: crashed})

	windows := &fixture.Minidump{Order: le, CPU: fixture.DumpX86, OS: fixture.DumpWindows, Version: [3]uint32{10, 0, 22000}}
	windows.System()
	lost := windows.Context(map[string]uint64{"eip": 0x70001000, "esp": 0x8000, "ebp": 0x8008})
	windows.Threads(fixture.DumpThread{ID: 1, StackAddr: 0x8000, Stack: make([]byte, 64), Context: lost})
	windows.Modules(fixture.DumpModule{Base: 0x400000, Size: 0x2000, Name: `C:\app\app.exe`, Record: windows.PDB70([16]byte(id), 1, "app.pdb")})
	windows.Unloaded(fixture.DumpModule{Base: 0x70000000, Size: 0x4000, Name: `C:\app\gone.dll`})
	windows.Exception(fixture.DumpCrash{Thread: 1, Code: 0xc0000005, Addr: 0x70001000, Params: []uint64{8, 0x70001000}, Context: lost})

	mac := &fixture.Minidump{Order: le, CPU: fixture.DumpARM64, OS: fixture.DumpMacOS, Version: [3]uint32{14, 1, 0}}
	mac.System()
	mac.Threads(fixture.DumpThread{ID: 5})
	mac.Modules(fixture.DumpModule{Base: 0x100000000, Size: 0x2000, Name: "/usr/bin/tool\x1b[31m", Record: mac.PDB70([16]byte(id), 0, "tool")})
	damaged := &fixture.Minidump{Order: le, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux}
	damaged.System()
	damaged.Threads(fixture.DumpThread{ID: 5})
	damaged.Modules(fixture.DumpModule{Base: 0x400000, Name: "empty"})
	packed := sourcetest.Zstd(linux.Bytes())
	return errors.Join(
		os.WriteFile(dir+"/linux.zst", packed, 0o600), os.WriteFile(dir+"/cut.zst", packed[:len(packed)-9], 0o600),
		os.WriteFile(dir+"/linux.gz", sourcetest.Gzip(linux.Bytes()), 0o600),
		os.WriteFile(dir+"/linux.xz", fixture.NewXZ(1).Block(fixture.XZStored(linux.Bytes()), linux.Bytes(), true).Bytes(), 0o600),
		os.WriteFile(dir+"/apple.ips", []byte(`{"usedImages":[{"base":4096,"size":4096,"name":"app"}],"threads":[]}`), 0o600),
		os.WriteFile(dir+"/damaged.dmp", damaged.Bytes(), 0o600),
		os.WriteFile(dir+"/linux.dmp", linux.Bytes(), 0o600), os.WriteFile(dir+"/windows.dmp", windows.Bytes(), 0o600),
		os.WriteFile(dir+"/mac.dmp", mac.Bytes(), 0o600), os.WriteFile(dir+"/cut.dmp", linux.Bytes()[:20], 0o600),
	)
}

func TestCrashWhileTheDataDirectoryIsInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := disk.Open(disk.Config{}, dir+"/data", time.Now, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, writeDumps(dir)); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var out, errs bytes.Buffer
	line := []string{"crash", "--data", dir + "/data", dir + "/linux.dmp"}
	code := run(t.Context(), line, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if code != exitDone || !strings.Contains(out.String(), "Crash reason:") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

func TestTwoCrashesAtOnceShareTheDataDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := writeDumps(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", dir+"/cache")
	t.Setenv("HOME", dir)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{"crash", dir + "/linux.dmp"}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
			if code != exitDone || !strings.Contains(out.String(), "Crash reason:") {
				t.Errorf("exit %d: %s", code, &errs)
			}
		})
	}
	wg.Wait()
}

func TestSymbolsOfServersAreKeptForTheNextRun(t *testing.T) {
	dir := t.TempDir()
	if err := writeDumps(dir); err != nil {
		t.Fatal(err)
	}
	const sym = "MODULE Linux x86_64 0403020106050807090A0B0C0D0E0F100 app\nFUNC 1000 40 0 sum\nFUNC 1100 20 0 main\n" +
		"STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if path.Base(r.URL.Path) != "app.sym" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(sym)) // the client may end before
	}))
	defer server.Close()
	for i := range 2 {
		requests.Store(0)
		var out, errs bytes.Buffer
		e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
		code := stackwalk.For("minidump-stackwalk")(t.Context(), e.stackwalk(configFlags{}),
			[]string{"minidump-stackwalk", "--symbols-url", server.URL, "--symbols-cache", dir + "/kept", dir + "/linux.dmp"})
		if code != exitDone || !strings.Contains(out.String(), "app!sum") {
			t.Fatalf("exit %d: %s%s", code, &out, &errs)
		}
		if n := requests.Load(); i > 0 && n != 0 {
			t.Errorf("%d requests in the second run", n)
		}
	}
}
