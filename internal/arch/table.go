package arch

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	ground = 0  // the rank that every higher rank may import
	beside = -1 // the rank of packages outside of the stair
)

// level is a place on the stair: a rank and, where the rank has steps, the
// letter of one.
type level struct {
	rank int
	step string // empty, or one letter
}

func (l level) String() string { return strconv.Itoa(l.rank) + l.step }

// isBelow reports whether a package on level to may import one on level l.
// Imports within rank 0 are free: Go itself refuses cycles.
func (l level) isBelow(to level) bool {
	switch {
	case l.rank == beside:
		return false
	case l.rank == ground && to.rank == ground:
		return true
	}
	return l.rank < to.rank || l.rank == to.rank && l.step < to.step
}

// room is one package as the table has it.
type room struct {
	level
	path    string
	line    int
	imports map[string]bool // whether the import is used, by path
	modules map[string]bool // whether the module is used, by path
	all     bool            // may import any package of ours
}

// parseTable reads the text of rooms.txt.
func parseTable(text string) (map[string]*room, error) {
	rooms := map[string]*room{}
	at, ranked := level{rank: beside}, false
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		number, isRank := strings.CutPrefix(line, "rank ")
		switch {
		case line == "":
			continue
		case line == "beside":
			at, ranked = level{rank: beside}, true
			continue
		case isRank:
			var err error
			if at, err = parseLevel(number); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			ranked = true
			continue
		}
		r, err := parseRoom(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		case !ranked:
			return nil, fmt.Errorf("line %d: package %s has no rank", i+1, r.path)
		case rooms[r.path] != nil:
			return nil, fmt.Errorf("line %d: duplicate package %s", i+1, r.path)
		}
		r.line, r.level = i+1, at
		rooms[r.path] = r
	}
	return rooms, nil
}

// parseLevel parses a rank with or without a step: 2, 2a.
func parseLevel(text string) (level, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || len(text) > len(number)+1 {
		return level{}, fmt.Errorf("invalid rank %q: must be a number and at most one letter", text)
	}
	return level{n, text[len(number):]}, nil
}

func parseRoom(line string) (*room, error) {
	path, rest, ok := strings.Cut(line, ":")
	if !ok || path == "" || strings.ContainsAny(path, " \t|") {
		return nil, fmt.Errorf("invalid line %q: must be \"package: imports | modules\"", line)
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

// isTestOnly reports whether only tests may import the package: it has test data,
// servers for tests or the conformance suite of a family.
func (r *room) isTestOnly() bool {
	return r.path == "fixture" || r.path == "trial" || r.isChildOf("trial") || strings.HasSuffix(r.path, "test")
}

// isChildOf reports whether r belongs to the family of root.
func (r *room) isChildOf(root string) bool { return strings.HasPrefix(r.path, root+"/") }

// isPure reports whether the package must not use the network, files or clocks.
func (r *room) isPure() bool {
	if r.rank == beside || r.rank > 2 {
		return false
	}
	return r.path != "metric" && r.path != "transfer" && r.path != "bucket" && !r.isChildOf("bucket")
}
