package cache

import (
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// MaxFault is the size of the longest fault that AppendFault writes.
const MaxFault = 1 + 2*(2+MaxText) + 2

// AppendFault appends f as a tier stores it, little endian:
//
//	u8   kind
//	     place and detail as u16 length and bytes
//	u16  status, unless it is zero
func AppendFault(b []byte, f *fault.Error) []byte {
	b = append(b, byte(f.Kind))
	for _, text := range []string{Clip(f.Place), Clip(f.Detail)} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	if f.Status != 0 {
		b = binary.LittleEndian.AppendUint16(b, uint16(f.Status))
	}
	return b
}

// ReadFault reads a fault that AppendFault wrote. It must be all that is left
// of c. It returns false for any other bytes.
func ReadFault(c *bin.Cursor) (*fault.Error, bool) {
	f := &fault.Error{Kind: fault.Kind(c.U8())}
	f.Place = string(c.Bytes(int(c.U16())))
	f.Detail = string(c.Bytes(int(c.U16())))
	if c.Len() > 0 {
		f.Status = int(c.U16())
		if f.Status == 0 {
			return nil, false
		}
	}
	if Clip(f.Place) != f.Place || Clip(f.Detail) != f.Detail {
		return nil, false
	}
	return f, c.Err() == nil && c.Len() == 0 && f.Kind != fault.Internal && f.Kind <= fault.Unsupported
}
