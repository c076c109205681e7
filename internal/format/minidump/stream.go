package minidump

import "fmt"

// A StreamType is the number of a kind of stream.
type StreamType uint32

// Streams that the package reads.
const (
	ThreadList         StreamType = 3
	ModuleList         StreamType = 4
	MemoryList         StreamType = 5
	Exceptions         StreamType = 6
	SystemInfo         StreamType = 7
	Memory64List       StreamType = 9
	HandleData         StreamType = 12
	UnloadedModuleList StreamType = 14
	MiscInfo           StreamType = 15
	MemoryInfoList     StreamType = 16
	ThreadNames        StreamType = 24
	BreakpadInfo       StreamType = 0x47670001
	AssertionInfo      StreamType = 0x47670002
	LinuxCPUInfo       StreamType = 0x47670003
	LinuxProcStatus    StreamType = 0x47670004
	LinuxLSBRelease    StreamType = 0x47670005
	LinuxMaps          StreamType = 0x47670009
	MacCrashInfo       StreamType = 0x4d7a0001
	MacBootArgs        StreamType = 0x4d7a0002
	LinuxLimits        StreamType = 0x4d7a0003
	SoftErrors         StreamType = 0x4d7a0004
	CrashpadInfo       StreamType = 0x43500001
	ClientStacks       StreamType = 0x53790001
)

// A Stream is an entry of the directory.
type Stream struct {
	Type StreamType
	Location
}

// unreadNames has the names of streams that rust-minidump does not read, in its output.
var unreadNames = map[StreamType]string{
	0: "UnusedStream", 8: "ThreadExListStream", 10: "CommentStreamA", 11: "CommentStreamW", 13: "FunctionTable",
	18: "HandleOperationListStream", 19: "TokenStream", 20: "JavaScriptDataStream", 21: "SystemMemoryInfoStream",
	22: "ProcessVmCountersStream", 23: "IptTraceStream", 0x47670006: "LinuxCmdLine", 0x47670008: "LinuxAuxv", 0x4767000a: "LinuxDsoDebug",
}

// streamNames has the names of the others.
var streamNames = map[StreamType]string{
	ThreadList: "ThreadListStream", ModuleList: "ModuleListStream", MemoryList: "MemoryListStream", Exceptions: "ExceptionStream",
	SystemInfo: "SystemInfoStream", Memory64List: "Memory64ListStream", HandleData: "HandleDataStream",
	UnloadedModuleList: "UnloadedModuleListStream", MiscInfo: "MiscInfoStream", MemoryInfoList: "MemoryInfoListStream",
	17: "ThreadInfoListStream", ThreadNames: "ThreadNamesStream",
	BreakpadInfo: "BreakpadInfoStream", AssertionInfo: "AssertionInfoStream", LinuxCPUInfo: "LinuxCpuInfo",
	LinuxProcStatus: "LinuxProcStatus", LinuxLSBRelease: "LinuxLsbRelease",
	0x47670007: "LinuxEnviron", LinuxMaps: "LinuxMaps",
	CrashpadInfo: "CrashpadInfoStream", MacCrashInfo: "MozMacosCrashInfoStream",
	MacBootArgs: "MozMacosBootargsStream", LinuxLimits: "MozLinuxLimits", SoftErrors: "MozSoftErrors",
	ClientStacks: "SentryClientStacks",
}

// IsRead reports whether rust-minidump reads streams of the type.
func (t StreamType) IsRead() bool { return streamNames[t] != "" }

// IsKnown reports whether the type has a name.
func (t StreamType) IsKnown() bool { return t.IsRead() || unreadNames[t] != "" }

// String returns the name of the type, for an unknown one its number.
func (t StreamType) String() string {
	if name := streamNames[t] + unreadNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("stream %#x", uint32(t))
}
