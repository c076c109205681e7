// Package blob stores a file as independent zstd frames of 2 MiB of its content, so that
// a part can be read without decoding the parts before it. The whole blob is a valid zstd
// stream of the file: a client that accepts zstd gets it unchanged.
//
// # Format
//
// It is the zstd seekable format: frames, each with a checksum of its content, and then
// a skippable frame with a table.
//
//	5E 2A 4D 18    magic number of the skippable frame
//	4 bytes        size of the rest
//	8 bytes        for each frame: its size, and that of its content
//	4 bytes        number of frames
//	00             descriptor: the table has no checksums
//	B1 EA 92 8F    magic number of the table
//
// Numbers are little endian. All frames but the last one have content of one size, at
// most 4 MiB. A blob with other frames is Malformed here.
//
// # Limits
//
// A Writer uses 5 MiB and the memory of an encoder, a Reader the table and at most
// four decoded frames.
package blob

import "sync"

const (
	frameSize = 2 << 20 // of the content of a frame that is written
	maxFrame  = 4 << 20 // of one that is read

	skippable = 0x184D2A5E
	seekable  = 0x8F92EAB1
	headSize  = 4 + 4
	entrySize = 4 + 4
	tailSize  = 4 + 1 + 4
)

// A Pool creates Writers and Readers that reuse the memory of closed ones. The zero value
// is ready. It is safe for concurrent use.
type Pool struct{ packers, unpackers sync.Pool }

func (p *Pool) packer() *packer {
	if b, ok := p.packers.Get().(*packer); ok {
		return b
	}
	return newPacker()
}

func (p *Pool) unpacker() *unpacker {
	if b, ok := p.unpackers.Get().(*unpacker); ok {
		return b
	}
	return newUnpacker()
}
