package cab

import "encoding/binary"

const (
	callCode = 0xe8
	// Calls in the last 10 bytes of a frame, and after the first 32,768 frames,
	// are not changed.
	callTail   = 10
	callFrames = 32 << 10
)

// relativeCalls converts absolute targets of calls in a frame back to relative ones.
func (d *lzx) relativeCalls(p []byte) []byte {
	if d.calls == 0 || len(p) <= callTail || d.done >= callFrames*maxBlock {
		return p
	}
	d.out = append(d.out[:0], p...)
	size := int64(int32(d.calls))
	for i := 0; i < len(p)-callTail; i++ {
		if d.out[i] != callCode {
			continue
		}
		at, b := d.done+int64(i), d.out[i+1:]
		switch target := int64(int32(binary.LittleEndian.Uint32(b))); {
		case target >= 0 && target < size:
			binary.LittleEndian.PutUint32(b, uint32(target-at))
		case target < 0 && target >= -at:
			binary.LittleEndian.PutUint32(b, uint32(target+size))
		}
		i += 4
	}
	return d.out
}
