package minidump

import (
	"bytes"
	"strconv"
	"strings"
)

// pairs calls yield for each line of a text that has a key and a value. Lines are
// parts of text.
func pairs(text []byte, separator string, yield func(key, value []byte)) {
	for line := range bytes.Lines(text) {
		if key, value, ok := bytes.Cut(line, []byte(separator)); ok {
			yield(unquote(key), unquote(value))
		}
	}
}

// unquote removes spaces and one pair of quotes.
func unquote(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if n := len(b); n >= 2 && b[0] == '"' && b[n-1] == '"' {
		b = b[1 : n-1]
	}
	return b
}

// LSB describes a distribution of Linux.
type LSB struct{ ID, Release, Codename, Description string }

func parseLSB(text []byte) *LSB {
	x := &LSB{}
	pairs(text, "=", func(key, value []byte) {
		switch string(key) {
		case "DISTRIB_ID", "ID":
			x.ID = valid(value)
		case "DISTRIB_RELEASE", "VERSION_ID":
			x.Release = valid(value)
		case "DISTRIB_CODENAME", "VERSION_CODENAME":
			x.Codename = valid(value)
		case "DISTRIB_DESCRIPTION", "PRETTY_NAME":
			x.Description = valid(value)
		}
	})
	return x
}

// parseMicrocode returns the version of the first CPU in /proc/cpuinfo.
func parseMicrocode(text []byte) (version uint64, ok bool) {
	pairs(text, ":", func(key, value []byte) {
		if string(key) == "microcode" && bytes.HasPrefix(value, []byte("0x")) && !ok {
			v, err := strconv.ParseUint(string(value[2:]), 16, 64)
			version, ok = v, err == nil
		}
	})
	return version, ok
}

// parsePID returns the process id in /proc/PID/status.
func parsePID(text []byte) (pid uint32, ok bool) {
	pairs(text, ":", func(key, value []byte) {
		if string(key) == "Pid" {
			v, err := strconv.ParseUint(string(value), 10, 32)
			pid, ok = uint32(v), err == nil
		}
	})
	return pid, ok
}

// A Limit is a limit of a process on Linux. Its values are numbers, or
// unlimited.
type Limit struct{ Name, Soft, Hard, Unit string }

// maxLimits bounds the lines that are read. Linux has 16.
const maxLimits = 100

// parseLimits reads /proc/PID/limits, whose columns are separated by at least two
// spaces.
func parseLimits(text []byte) (limits []Limit) {
	isHeader := true
	for line := range bytes.Lines(text) {
		if len(limits) == maxLimits {
			break
		}
		var fields []string
		for field := range bytes.SplitSeq(line, []byte("  ")) {
			if field = bytes.TrimSpace(field); len(field) > 0 {
				fields = append(fields, valid(field))
			}
		}
		if len(fields) == 0 {
			continue
		}
		if !isHeader && len(fields) >= 3 {
			limits = append(limits, Limit{fields[0], fields[1], fields[2], strings.Join(fields[3:min(len(fields), 4)], "")})
		}
		isHeader = false
	}
	return limits
}

// maps reads /proc/PID/maps.
func (r *reader) maps(l Location) (list []Mapping, err error) {
	text, err := r.bytes(l)
	if err != nil {
		return nil, err
	}
	list = []Mapping{}
	off := l.Off
	for line := range bytes.Lines(text) {
		m, ok := parseMapping(line)
		switch {
		case ok && len(list) < maxRanges:
			list = append(list, m)
		case len(bytes.TrimSpace(line)) > 0:
			r.problem("memory maps", off, "invalid line, or more than %d lines", maxRanges)
		}
		off += int64(len(line))
	}
	sortMappings(list)
	return list, nil
}

// parseMapping reads a line such as 7fff0000-7fff1000 rw-p 00000000 00:00 0.
func parseMapping(line []byte) (m Mapping, ok bool) {
	addrs, rest, _ := bytes.Cut(line, []byte(" "))
	from, to, _ := bytes.Cut(addrs, []byte("-"))
	start, err := strconv.ParseUint(string(from), 16, 64)
	end, endErr := strconv.ParseUint(string(to), 16, 64)
	if err != nil || endErr != nil || end <= start || len(rest) < 4 {
		return m, false
	}
	return Mapping{
		Addr: start, Size: end - start, IsMapped: true,
		Readable: rest[0] == 'r', Writable: rest[1] == 'w', Executable: rest[2] == 'x',
	}, true
}
