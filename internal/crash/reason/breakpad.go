package reason

import "cmp"

// Breakpad returns the reason of the crash as Breakpad's minidump_stackwalk
// prints it.
func (e *Exception) Breakpad() string {
	text := ""
	switch e.System {
	case Windows:
		text = e.breakpadWindows()
	case Linux:
		text = e.breakpadLinux()
	case Apple:
		text = e.apple(true)
	}
	return cmp.Or(text, hex(e.Code)+" / "+hex(e.Flags))
}

func (e *Exception) breakpadWindows() string {
	text, access := exceptions[e.Code], e.access()
	switch e.Code {
	case accessViolation:
		return text + access
	case inPageError:
		if e.Count >= 3 {
			return text + access + " / " + status(uint32(e.Params[2]))
		}
		return text + access
	case stackOverrun:
		if e.Count >= 1 {
			if text := lookUp(windowsTables()[fastFails], uint32(e.Params[0])); text != "" {
				return text
			}
		}
		return "EXCEPTION_STACK_BUFFER_OVERRUN"
	case 0xc00000ff:
		return "EXCEPTION_BAD_FUNCTION_TABLE"
	case 0xc0000374:
		return "EXCEPTION_HEAP_CORRUPTION"
	case 0x40010005:
		return "DBG_CONTROL_C"
	case 0xe0434352: // .NET's
		return ""
	}
	return text
}

func (e *Exception) breakpadLinux() string {
	signal := e.signal()
	switch e.Code {
	case 4, 7, 8:
		return signal + " / " + cmp.Or(signalKinds[e.Code][e.Flags], hex(e.Flags))
	case 11:
		return signal + " /" + cmp.Or(signalKinds[e.Code][e.Flags], hex(e.Flags)) // without a blank
	}
	return signal
}
