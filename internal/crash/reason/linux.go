package reason

import "cmp"

// linux returns the signal and the cause of it, empty for an unknown signal.
func (e *Exception) linux() string {
	signal := e.signal()
	if signal == "" || e.Flags == 0 { // SI_USER: sent by kill
		return signal
	}
	return signal + " / " + cmp.Or(signalKinds[e.Code][e.Flags], anySignal[e.Flags], hex(e.Flags))
}

// signal returns the name of the signal, empty if it is unknown.
func (e *Exception) signal() string {
	if e.Code == 1<<32-1 { // of a dump without a crash
		return "DUMP_REQUESTED"
	}
	return signals[e.Code]
}

// signals has the numbers of the generic ABI: MIPS and SPARC number some
// signals otherwise, but writers of dumps do not.
var signals = numbered("SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM " +
	"SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO " +
	"SIGPWR SIGSYS")

// anySignal has the values of si_code that any signal may have.
var anySignal = names{
	0x80: "SI_KERNEL", 1<<32 - 1: "SI_QUEUE", 1<<32 - 2: "SI_TIMER", 1<<32 - 3: "SI_MESGQ",
	1<<32 - 4: "SI_ASYNCIO", 1<<32 - 5: "SI_SIGIO", 1<<32 - 6: "SI_TKILL", 1<<32 - 7: "SI_DETHREAD",
	1<<32 - 60: "SI_ASYNCNL",
}

// signalKinds has the values of si_code of the signals of the kernel.
var signalKinds = map[uint32]names{
	4:  numbered("ILL_ILLOPC ILL_ILLOPN ILL_ILLADR ILL_ILLTRP ILL_PRVOPC ILL_PRVREG ILL_COPROC ILL_BADSTK ILL_BADIADDR"),
	5:  numbered("TRAP_BRKPT TRAP_TRACE TRAP_BRANCH TRAP_HWBKPT TRAP_UNK TRAP_PERF"),
	7:  numbered("BUS_ADRALN BUS_ADRERR BUS_OBJERR BUS_MCEERR_AR BUS_MCEERR_AO"),
	8:  numbered("FPE_INTDIV FPE_INTOVF FPE_FLTDIV FPE_FLTOVF FPE_FLTUND FPE_FLTRES FPE_FLTINV FPE_FLTSUB"),
	11: numbered("SEGV_MAPERR SEGV_ACCERR SEGV_BNDERR SEGV_PKUERR"),
	31: numbered("SYS_SECCOMP SYS_USER_DISPATCH"),
}
