package reason

// linux returns the signal and the cause of it, empty for an unknown signal.
func (e *Exception) linux() string {
	signal := find(signals, e.Code)
	if signal == "" {
		return ""
	}
	if kind := find(signalKinds(e.Code), e.Flags); kind != "" {
		return signal + " / " + kind
	}
	if e.Flags == 0 { // SI_USER: sent by kill
		return signal
	}
	if kind := find(anySignal, e.Flags); kind != "" {
		return signal + " / " + kind
	}
	return signal + " / " + hex(e.Flags)
}

// dumpRequested is the signal of a dump without a crash.
const dumpRequested = 0xffffffff

// signals has the numbers of the generic ABI: MIPS and SPARC number some
// signals otherwise, but writers of dumps do not.
var signals = []name{
	{1, "SIGHUP"}, {2, "SIGINT"}, {3, "SIGQUIT"}, {4, "SIGILL"}, {5, "SIGTRAP"}, {6, "SIGABRT"}, {7, "SIGBUS"}, {8, "SIGFPE"},
	{9, "SIGKILL"}, {10, "SIGUSR1"}, {11, "SIGSEGV"}, {12, "SIGUSR2"}, {13, "SIGPIPE"}, {14, "SIGALRM"}, {15, "SIGTERM"},
	{16, "SIGSTKFLT"}, {17, "SIGCHLD"}, {18, "SIGCONT"}, {19, "SIGSTOP"}, {20, "SIGTSTP"}, {21, "SIGTTIN"}, {22, "SIGTTOU"},
	{23, "SIGURG"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}, {26, "SIGVTALRM"}, {27, "SIGPROF"}, {28, "SIGWINCH"}, {29, "SIGIO"},
	{30, "SIGPWR"}, {31, "SIGSYS"}, {dumpRequested, "DUMP_REQUESTED"},
}

// anySignal has the values of si_code that any signal may have.
var anySignal = []name{
	{0x80, "SI_KERNEL"}, {1<<32 - 1, "SI_QUEUE"}, {1<<32 - 2, "SI_TIMER"}, {1<<32 - 3, "SI_MESGQ"},
	{1<<32 - 4, "SI_ASYNCIO"}, {1<<32 - 5, "SI_SIGIO"}, {1<<32 - 6, "SI_TKILL"}, {1<<32 - 7, "SI_DETHREAD"},
	{1<<32 - 60, "SI_ASYNCNL"},
}

// signalKinds returns the values of si_code of a signal of the kernel.
func signalKinds(signal uint32) []name {
	switch signal {
	case 4:
		return illKinds
	case 5:
		return trapKinds
	case 7:
		return busKinds
	case 8:
		return fpeKinds
	case 11:
		return segvKinds
	case 31:
		return sysKinds
	}
	return nil
}

var (
	illKinds = []name{
		{1, "ILL_ILLOPC"}, {2, "ILL_ILLOPN"}, {3, "ILL_ILLADR"}, {4, "ILL_ILLTRP"}, {5, "ILL_PRVOPC"}, {6, "ILL_PRVREG"},
		{7, "ILL_COPROC"}, {8, "ILL_BADSTK"}, {9, "ILL_BADIADDR"},
	}
	trapKinds = []name{
		{1, "TRAP_BRKPT"}, {2, "TRAP_TRACE"}, {3, "TRAP_BRANCH"}, {4, "TRAP_HWBKPT"}, {5, "TRAP_UNK"}, {6, "TRAP_PERF"},
	}
	busKinds = []name{{1, "BUS_ADRALN"}, {2, "BUS_ADRERR"}, {3, "BUS_OBJERR"}, {4, "BUS_MCEERR_AR"}, {5, "BUS_MCEERR_AO"}}
	fpeKinds = []name{
		{1, "FPE_INTDIV"}, {2, "FPE_INTOVF"}, {3, "FPE_FLTDIV"}, {4, "FPE_FLTOVF"}, {5, "FPE_FLTUND"}, {6, "FPE_FLTRES"},
		{7, "FPE_FLTINV"}, {8, "FPE_FLTSUB"},
	}
	segvKinds = []name{{1, "SEGV_MAPERR"}, {2, "SEGV_ACCERR"}, {3, "SEGV_BNDERR"}, {4, "SEGV_PKUERR"}}
	sysKinds  = []name{{1, "SYS_SECCOMP"}, {2, "SYS_USER_DISPATCH"}}
)
