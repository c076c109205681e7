package crash

import "symbolon/internal/bin"

// Open reads a dump of any kind, which its content tells.
func Open(src bin.Source) (*Dump, error) {
	return fromMinidump(src)
}
