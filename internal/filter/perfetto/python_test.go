package perfetto_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/proctest"
)

// writeTrace writes a trace with the library of Perfetto.
const writeTrace = `
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

trace = TraceProtoBuilder()
p = trace.add_packet()
p.timestamp = 1
p.trusted_packet_sequence_id = 1
p.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
d = p.interned_data
d.build_ids.add(iid=1, str=bytes.fromhex("c0ffee00c0ffee00"))
d.mapping_paths.add(iid=1, str=b"system")
d.mapping_paths.add(iid=2, str=b"libfoo.so")
d.mappings.add(iid=7, build_id=1, start=0x1000, end=0x3000, path_string_ids=[1, 2])
d.frames.add(iid=1, mapping_id=7, rel_pc=0x1973)
d.callstacks.add(iid=1, frame_ids=[1])
p = trace.add_packet()
p.timestamp = 2
p.trusted_packet_sequence_id = 1
p.perf_sample.callstack_iid = 1
open(sys.argv[1], "wb").write(trace.serialize())
`

// printNames prints the module symbols of a trace with the library of Perfetto.
const printNames = `
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

trace = Trace.FromString(open(sys.argv[1], "rb").read())
print(len(trace.packet))
for p in trace.packet:
    if p.HasField("module_symbols"):
        m = p.module_symbols
        for a in m.address_symbols:
            for l in a.lines:
                print(m.path, hex(a.address), l.function_name, l.source_file_name, l.line_number)
`

func TestPerfettosLibraryReadsTheNames(t *testing.T) {
	python := proctest.Program(t, "python3")
	if err := exec.Command(python, "-c", "import perfetto.trace_builder.proto_builder").Run(); err != nil {
		t.Skip("the Python package perfetto is not installed")
	}
	path := filepath.Join(t.TempDir(), "trace")
	proctest.Run(t, ".", python, "-c", writeTrace, path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, rewrite(t, &filter.Run{Names: filtertest.Names{hexID: {0x1973: names[hexID][0x1973]}}}, data)...)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got := []byte(proctest.Run(t, ".", python, "-c", printNames, path))
	want := []byte("3\n/system/libfoo.so 0x1973 inl(int) a.c 3\n/system/libfoo.so 0x1973 parse()  0\n")
	if !bytes.Equal(got, want) {
		t.Errorf("the library of Perfetto reads\n%s\nwant\n%s", got, want)
	}
}
