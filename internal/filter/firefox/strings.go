package firefox

import (
	"bytes"
	"math"
	"slices"

	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/filter/rawjson"
)

// texts are the names and files of the answers, with a number for each.
type texts struct {
	ids  map[string]int32
	list []string
}

// noText is the number of an empty text.
const noText = -1

func (t *texts) id(text []byte) int32 {
	if len(text) == 0 {
		return noText
	}
	id, ok := t.ids[string(text)]
	if !ok {
		id = int32(len(t.list))
		t.list = append(t.list, string(text))
		t.ids[t.list[id]] = id
	}
	return id
}

// A stringArray is an array of strings that tables refer to by index.
type stringArray struct {
	span
	data   []byte
	at     []uint32 // where each of them begins
	texts  *texts
	places []int32 // the index of each text, or -1
	added  []int32 // texts that are appended
}

func (s *stringArray) load() error {
	if s.at != nil {
		return nil
	}
	if int64(len(s.data)) > math.MaxUint32 {
		return fault.New(fault.Unsupported, "Firefox profile", "larger than 4 GiB")
	}
	r := rawjson.Reader{Data: s.data, Pos: s.from}
	for r.Enter('['); r.Next(); {
		r.Peek()
		s.at = append(s.at, uint32(r.Pos))
		r.Skip()
	}
	return r.Err
}

// quoted returns the rest of the document from a string on, with its quote.
func (s *stringArray) quoted(i int64) []byte {
	if i < 0 || i >= int64(len(s.at)) {
		return nil
	}
	return s.data[s.at[i]:s.to]
}

// isUnnamed reports whether a string is the name of a function without a name:
// its address.
func (s *stringArray) isUnnamed(i int64) bool {
	text := s.quoted(i)
	if rest, ok := bytes.CutPrefix(text, []byte(`"<unknown at 0x`)); ok {
		return bytes.HasPrefix(trimHex(rest), []byte(`>"`))
	}
	rest, ok := bytes.CutPrefix(text, []byte(`"0x`))
	return ok && bytes.HasPrefix(trimHex(rest), []byte(`"`))
}

func trimHex(text []byte) []byte {
	i := 0
	for i < len(text) && ('0' <= text[i] && text[i] <= '9' || 'a' <= text[i]|0x20 && text[i]|0x20 <= 'f') {
		i++
	}
	return text[i:]
}

// find finds the texts of the answers in the array.
func (s *stringArray) find(t *texts) {
	if s.texts != nil {
		return
	}
	s.texts = t
	s.places = slices.Repeat([]int32{-1}, len(t.list))
	var r rawjson.Reader
	for i, at := range s.at {
		r.Reset(s.data)
		r.Pos = int(at)
		if id, ok := t.ids[string(r.Text())]; ok && s.places[id] < 0 {
			s.places[id] = int32(i)
		}
	}
}

// index returns the index of a text, which is appended if the array lacks it.
func (s *stringArray) index(id int32) int64 {
	if s.places[id] < 0 {
		s.places[id] = int32(len(s.at) + len(s.added))
		s.added = append(s.added, id)
	}
	return int64(s.places[id])
}

// edits returns the change of the array: what is appended.
func (s *stringArray) edits() []edit {
	if len(s.added) == 0 {
		return nil
	}
	end := s.to - 1
	return []edit{{end, func(e *rawjson.Editor) error {
		e.Replace(end, end)
		for i, id := range s.added {
			if i > 0 || len(s.at) > 0 {
				e.Out.WriteByte(',')
			}
			e.Out.Write(json.AppendQuoted(e.Out.AvailableBuffer(), s.texts.list[id]))
		}
		return nil
	}}}
}
