package console

import "fmt"

// Bytes returns a number of bytes with a unit, such as 1.5 MB.
func Bytes(n int64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	size, units := float64(n), []string{"bytes", "KB", "MB", "GB", "TB"}
	for size >= 1000 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}
