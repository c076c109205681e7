package store

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/ident"
)

// ReaderVersion is the version of the readers that made the records of files. It is
// raised when they find more.
const ReaderVersion = 1

const (
	timeDigits = 9 // of the name of an upload, five bits each
	nameDigits = 20
	maxCodeID  = 64 // digits of a code id in a key
)

// digits are the digits in names of uploads. They are in the order of their values.
const digits = "0123456789abcdefghijklmnopqrstuv"

// newName returns a new name of an upload. Names of later times sort first.
func newName(ms int64) string {
	name := make([]byte, nameDigits)
	_, _ = rand.Read(name) // never fails
	for i := range name {
		name[i] = digits[name[i]%32]
	}
	left := 1<<(5*timeDigits) - 1 - ms
	for i := timeDigits - 1; i >= 0; i-- {
		name[i] = digits[left&31]
		left >>= 5
	}
	return string(name)
}

// nameTime returns the time in the name of an upload.
func nameTime(name string) time.Time {
	left := int64(0)
	for i := range timeDigits {
		left = left<<5 | int64(strings.IndexByte(digits, name[i]))
	}
	return time.UnixMilli(1<<(5*timeDigits) - 1 - left).UTC()
}

// splitID returns the project and the name of an upload with this id.
func splitID(id string) (project, name string, ok bool) {
	project, name, _ = strings.Cut(id, ".")
	return project, name, ident.CheckProject(project) == nil && isName(name)
}

func isName(name string) bool {
	return len(name) == nameDigits && strings.Trim(name, digits) == ""
}

// uploadKey returns the key of the record of an upload.
func uploadKey(project, name string) string { return "upload/" + project + "/" + name[:4] + "/" + name }

func goneKey(project, name string) string { return "gone/" + project + "." + name }

// A Copy identifies a stored copy of a file.
type Copy struct {
	SHA256 ident.SHA256
	N      int
}

// String returns SHA.N.
func (c Copy) String() string { return c.SHA256.String() + "." + strconv.Itoa(c.N) }

// parseCopy parses the text of String.
func parseCopy(text string) (c Copy, ok bool) {
	sum, number, _ := strings.Cut(text, ".")
	badSum := c.SHA256.UnmarshalText([]byte(sum))
	n, err := strconv.Atoi(number)
	c.N = n
	return c, badSum == nil && err == nil && n > 0
}

func (c Copy) key(folder string) string {
	text := c.String()
	return folder + "/" + text[:2] + "/" + text
}

// A Mark is the content of a mark of a copy.
type Mark struct {
	Time time.Time `json:"time"`
}

// BlobKey returns the key of the bytes.
func (c Copy) BlobKey() string { return c.key("blob") }

// DeadKey returns the key of the mark that no upload may begin to rely on the copy.
func (c Copy) DeadKey() string { return c.key("dead") }

// recordKey returns the key of the record of a file.
func recordKey(sum ident.SHA256) string { return Copy{sum, ReaderVersion}.key("file") }

// entry is a key by which a file is found.
type entry struct {
	id      string // a letter, and digits
	project string
	name    string // of the upload
	Copy
	at int64 // offset of the line of the file in the record of the upload
}

// folderOf returns the folder of the entries with an id.
func folderOf(id string) string { return "id/" + (id[1:] + "000")[:3] + "/" }

func (e entry) key() string {
	return fmt.Sprintf("%s%s.%s.%s.%s.%d.%d", folderOf(e.id), e.id, e.project, e.name, e.SHA256, e.N, e.at)
}

// parseEntry parses the key of an entry.
func parseEntry(key string) (e entry, ok bool) {
	f := strings.Split(key[strings.LastIndexByte(key, '/')+1:], ".")
	if len(f) != 6 || !isName(f[2]) {
		return e, false
	}
	e.id, e.project, e.name = f[0], f[1], f[2]
	e.Copy, ok = parseCopy(f[3] + "." + f[4])
	at, err := strconv.ParseInt(f[5], 10, 64)
	e.at = at
	return e, ok && err == nil && at >= 0
}

// idsOf returns the ids of a module in keys.
func idsOf(m ident.Module) (ids []string) {
	if !m.DebugID.IsZero() {
		uuid := m.DebugID.UUID()
		ids = append(ids, "d"+hex.EncodeToString(uuid[:]))
	}
	if !m.CodeID.IsZero() {
		ids = append(ids, "c"+string(m.CodeID[:min(len(m.CodeID), maxCodeID)]))
	}
	if !m.FileID.IsZero() {
		ids = append(ids, "f"+m.FileID.Hex())
	}
	return ids
}

// idOf returns the id of a sum in keys.
func idOf(sum ident.SHA1) string { return "s" + sum.String() }
