package bin_test

import (
	"encoding/binary"
	"fmt"

	"symbolon/internal/bin"
)

// A record is read as a whole, and the error is checked once.
func ExampleCursor() {
	read := func(data string) {
		c := bin.NewCursor([]byte(data), binary.LittleEndian)
		kind, size := c.U16(), c.U8()
		name := c.Bytes(int(size))
		if err := c.Err(); err != nil {
			fmt.Printf("offset %d: %v\n", c.Off(), err)
			return
		}
		fmt.Printf("%d %s\n", kind, name)
	}
	read("\x07\x00\x04main")
	read("\x07\x00\x04ma")
	// Output:
	// 7 main
	// offset 3: data ends early
}
