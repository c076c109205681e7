package firefox

import "symbolon/internal/fault"

// A scope is a set of tables that refer to each other: those of the profile, or
// before version 60 those of a thread.
type scope struct {
	section
	files *fileRows // nil before version 58

	address, function, depth, symbol, line, col, lib *column // of frames
	name, source                                     *column // of functions; source is the file name before version 58
	resource, resourceLib                            *column // the way to the library before version 70

	answerOf []int32 // for each frame in the document the number of its answer, or -1
	chainAt  []int32 // for each frame in the document where its chain begins in chains, or zero
	chains   []int32 // lengths, and the frames that replace a frame from the outermost on
}

// unchanged and omitted are values of answerOf: a frame without an answer, and one of
// an inlined call that its answer replaces.
const (
	unchanged = -1
	omitted   = -2
)

// openScopes reads the columns that are needed to find the frames without names.
func (p *profile) openScopes() ([]*scope, error) {
	var scopes []*scope
	if p.shared.frames != nil {
		s := &scope{section: p.shared}
		for _, t := range p.threads {
			s.stackLists = append(s.stackLists, t.stackLists...)
			s.markers = append(s.markers, t.markers...)
		}
		scopes = append(scopes, s)
	} else {
		for _, t := range p.threads {
			if t.frames == nil {
				continue
			}
			if t.strings == nil {
				t.strings = p.shared.strings
			}
			t.sources = p.shared.sources
			scopes = append(scopes, &scope{section: t})
		}
	}
	files := &fileRows{table: p.shared.sources}
	for _, s := range scopes {
		s.files = files
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	return scopes, nil
}

func (s *scope) open() error {
	if s.funcs == nil || s.symbols == nil || s.stacks == nil || s.strings == nil {
		return fault.New(fault.Malformed, "Firefox profile", "frameTable is without funcTable, nativeSymbols, stackTable or stringArray")
	}
	r := reading{err: s.strings.load()}
	s.address, s.function = r.require(s.frames, "address"), r.require(s.frames, "func")
	s.depth, s.symbol = r.require(s.frames, "inlineDepth"), r.require(s.frames, "nativeSymbol")
	s.line, s.col, s.lib = r.require(s.frames, "line"), r.column(s.frames, "column"), r.column(s.frames, "lib")
	s.name = r.require(s.funcs, "name")
	if s.lib == nil && s.resources != nil {
		s.resource, s.resourceLib = r.require(s.funcs, "resource"), r.require(s.resources, "lib")
	}
	return r.err
}

// library returns the number of the library of a frame, or -1.
func (s *scope) library(frame int32) int32 {
	if s.lib != nil {
		return s.lib.index(frame)
	}
	return s.resourceLib.index(s.resource.index(s.function.index(frame)))
}

// isWanted reports whether the names of a frame are looked up.
func (s *scope) isWanted(frame int32, force bool) bool {
	if s.depth.get(frame) > 0 || s.address.get(frame) < 0 {
		return false
	}
	name := s.name.get(s.function.index(frame))
	return name >= 0 && (force || s.strings.isUnnamed(name))
}
