package arch

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	ground = 0  // the rank that everybody may stand on
	beside = -1 // the rank of packages outside of the stair
)

// room is one package as the table has it.
type room struct {
	path    string
	line    int
	rank    int
	imports map[string]bool // used so far, by path
	modules map[string]bool // used so far, by module
	all     bool            // may import anything of ours
}

// parseTable reads the text of rooms.txt.
func parseTable(text string) (map[string]*room, error) {
	rooms := map[string]*room{}
	rank, ranked := beside, false
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		number, isRank := strings.CutPrefix(line, "rank ")
		switch {
		case line == "":
			continue
		case line == "beside":
			rank, ranked = beside, true
			continue
		case isRank:
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("line %d: %q is not a rank", i+1, number)
			}
			rank, ranked = n, true
			continue
		}
		r, err := parseRoom(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		case !ranked:
			return nil, fmt.Errorf("line %d: %s stands on no rank", i+1, r.path)
		case rooms[r.path] != nil:
			return nil, fmt.Errorf("line %d: %s is there twice", i+1, r.path)
		}
		r.line, r.rank = i+1, rank
		rooms[r.path] = r
	}
	return rooms, nil
}

func parseRoom(line string) (*room, error) {
	path, rest, ok := strings.Cut(line, ":")
	if !ok || path == "" || strings.ContainsAny(path, " \t|") {
		return nil, fmt.Errorf("%q is not \"package: imports | modules\"", line)
	}
	imports, modules, _ := strings.Cut(rest, "|")
	r := &room{path: path, imports: map[string]bool{}, modules: map[string]bool{}}
	for name := range strings.FieldsSeq(imports) {
		if name == "*" {
			r.all = true
			continue
		}
		r.imports[name] = false
	}
	for name := range strings.FieldsSeq(modules) {
		r.modules[name] = false
	}
	return r, nil
}

// testing says whether the package exists for tests only: it builds their
// data, or is the suite of a family.
func (r *room) testing() bool { return r.path == "fixture" || strings.HasSuffix(r.path, "test") }

// under says whether r is a child of the family of root.
func (r *room) under(root string) bool { return strings.HasPrefix(r.path, root+"/") }

// pure says whether the package must not know the world outside.
func (r *room) pure() bool {
	if r.rank == beside || r.rank > 2 {
		return false
	}
	return r.path != "metric" && r.path != "bucket" && !r.under("bucket")
}
