package reason

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
		text = e.breakpadApple()
	}
	if text == "" {
		return hex(e.Code) + " / " + hex(e.Flags)
	}
	return text
}

func (e *Exception) breakpadWindows() string {
	text, access := find(exceptions, e.Code), e.access()
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
	signal := find(signals, e.Code)
	switch e.Code {
	case 4, 7, 8:
		return signal + " / " + orHex(find(signalKinds(e.Code), e.Flags), e.Flags)
	case 11:
		return signal + " /" + orHex(find(segvKinds, e.Flags), e.Flags) // without a blank
	}
	return signal
}

func (e *Exception) breakpadApple() string {
	if text := find(crashpadTypes, e.Code); text != "" {
		return text
	}
	text := find(machTypes, e.Code)
	if text == "" {
		return ""
	}
	return text + " / " + orHex(e.machKind(), e.Flags)
}
