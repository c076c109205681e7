package object

// plainC takes the decoration of C on Windows from a name, in place: of f@@8
// everywhere, of _f@8 and @f@8 on 32-bit x86, where also an underscore stands
// before each name that the linker sees.
func plainC(name []byte, x86, linked bool) []byte {
	const maxDigits = 6 // of the size of parameters
	if len(name) < 2 || name[0] == '?' {
		return name
	}
	end := len(name)
	for end > max(2, len(name)-maxDigits) && name[end-1]-'0' < 10 {
		end--
	}
	if rest := name[:end]; end > 2 && end < len(name) && rest[end-1] == '@' {
		switch rest = rest[:len(rest)-1]; {
		case rest[len(rest)-1] == '@':
			return rest[:len(rest)-1]
		case x86 && (rest[0] == '_' || rest[0] == '@'):
			return rest[1:]
		}
	}
	if x86 && linked && name[0] == '_' {
		return name[1:]
	}
	return name
}
