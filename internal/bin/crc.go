package bin

import "hash/crc32"

// Castagnoli is the table of the CRC-32 that processors compute in hardware. All
// checksums of our own formats use it.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)
