package mozilla

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// readMap reads the value of "memoryMap".
func (j *jobReader) readMap(string) {
	j.memoryMap = member{isPresent: true}
	j.req.maps = j.req.maps[:j.job.maps.from]
	if j.Peek() != '[' {
		j.Skip()
		j.memoryMap.invalid = "modules must be a list"
		return
	}
	j.Enter()
	for n := 0; j.Next(&n); {
		if j.memoryMap.invalid != "" {
			j.Skip()
		} else if invalid := j.readModule(); invalid != "" {
			j.memoryMap.invalid = "module index " + strconv.Itoa(n-1) + invalid
		}
	}
}

func (j *jobReader) readModule() (invalid string) {
	const shape = " does not have a debug_filename and debug_id"
	if j.Peek() != '[' {
		j.Skip()
		return shape
	}
	var isText [3]bool
	j.texts[2] = j.texts[2][:0]
	usual := j.MaxString
	defer func() { j.MaxString = usual }()
	j.Enter()
	n := 0
	for j.Next(&n) {
		if j.Peek() != '"' || n > len(j.texts) {
			j.Skip()
			continue
		}
		if j.MaxString = usual; n <= 2 && !j.is.strict() {
			j.MaxString = math.MaxInt // the answer repeats it
		}
		j.ReadString(true)
		isText[n-1] = !j.Truncated || n == 3 // a truncated code id is still too long
		j.texts[n-1], j.Text = j.Text, j.texts[n-1]
	}
	file, id := j.texts[0], j.texts[1]
	switch {
	case n != 2 && (n != 3 || j.is.tecken || j.is.limits.Strict):
		return shape
	case !isText[0] || j.is.strict() && !hasOnly(file, &fileNames):
		return " has an invalid debug_filename"
	case !isText[1] || j.is.strict() && !hasOnly(id, &hexDigits):
		return " has an invalid debug_id"
	case n == 3 && !isText[2]:
		return " has an invalid code_id"
	case j.is.tecken && utf8.RuneCount(file) > 1024:
		return ": module name too long"
	case j.is.tecken && bytes.IndexByte(file, 0) >= 0:
		return ": module_name contains null-byte"
	}
	j.addModule()
	return ""
}

// addModule appends the present module to the memoryMap. The first code id of a
// module counts.
func (j *jobReader) addModule() {
	i, isKnown := j.find()
	if !isKnown {
		if limit := j.is.limits.MaxModules; limit >= 0 && len(j.req.modules) >= limit {
			j.tooMany("modules", limit)
			return
		}
		i = int32(len(j.req.modules))
		m := module{file: string(j.texts[0]), id: string(j.texts[1])}
		j.req.modules = append(j.req.modules, m)
		if j.known != nil {
			j.known[[2]string{m.file, m.id}] = i
		}
	}
	if m := &j.req.modules[i]; m.code == "" {
		m.code = string(j.texts[2])
	}
	j.req.maps = append(j.req.maps, i)
}

// fewModules is the number of modules up to which a search in the list is faster
// than a map.
const fewModules = 16

// find returns the index of the present module in the request.
func (j *jobReader) find() (i int32, isKnown bool) {
	if len(j.req.modules) <= fewModules {
		for i, m := range j.req.modules {
			if m.file == string(j.texts[0]) && m.id == string(j.texts[1]) {
				return int32(i), true
			}
		}
		return 0, false
	}
	if j.known == nil {
		j.known = map[[2]string]int32{}
		for i, m := range j.req.modules {
			j.known[[2]string{m.file, m.id}] = int32(i)
		}
	}
	i, isKnown = j.known[[2]string{string(j.texts[0]), string(j.texts[1])}]
	return i, isKnown
}

// fileNames and hexDigits are the bytes that Eliot allows in a debug file name
// and a debug id.
var (
	fileNames = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+{}@<> ~-")
	hexDigits = byteSet("0123456789abcdefABCDEF")
)

func byteSet(chars string) (set [256]bool) {
	for i := range len(chars) {
		set[chars[i]] = true
	}
	return set
}

func hasOnly(text []byte, set *[256]bool) bool {
	for _, c := range text {
		if !set[c] {
			return false
		}
	}
	return true
}
