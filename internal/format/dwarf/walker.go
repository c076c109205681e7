package dwarf

// Tree has the functions of a unit, with the calls that were inlined into them.
type Tree struct {
	Funcs  []Func
	Calls  []Call
	Ranges []Range
}

// Func is a function with code. Its ranges and calls are slices of those of its
// Tree; the ranges are in the order of the file.
type Func struct {
	Name            Name
	Die             uint64 // offset in its section
	Entry           uint64
	First, N        int32 // ranges
	Calls, NumCalls int32
	Lang            uint16
}

// NoFile is the File of a Call without DW_AT_call_file.
const NoFile = ^uint32(0)

// Call is an inlined call. File, Line and Column are the position of the call;
// a Line or Column of 0 is unknown. File is a number of the line program, where
// 0 is valid from DWARF 5 on.
type Call struct {
	Name               Name
	Parent             int32 // index of an earlier call of the function; -1: the function
	First, N           int32 // ranges; none: those of its calls
	File, Line, Column uint32
	Lang               uint16
}

const (
	maxNest   = 256     // limit of nested calls; deeper ones are ignored, but not their calls
	maxFrames = 1 << 16 // limit of nested DIEs with frames
	maxParts  = 1 << 22 // limit of functions of a unit, and of calls
)

// A Walker reads units. It reuses its memory for the next one, and belongs to
// one goroutine.
type Walker struct {
	view
	resolver
	own    table
	tree   Tree
	names  names
	calls  []Call  // calls of nested functions, until the outermost one ends
	inner  []int32 // indexes of those functions
	frames []frame
	scopes []scope
	now    state
	scoped []Name // names that need scopes of the unit
	text   []byte

	captured
	reason string
	at     int
}

// state is the position of the walk in the tree. It is small, because a frame
// has a copy of it.
type state struct {
	fn    int32 // function, or -1
	open  int32 // number of enclosing functions with code
	first int32 // its first call; its calls are the last ones of the tree
	call  int32 // index of the current call in it, or -1
	nest  int32 // number of enclosing calls
	scope int32 // innermost scope, or -1
	deep  int32 // number of enclosing scopes
	local bool  // in a function inside scope
}

// frame restores the state at the end of the children of a DIE that changed it.
type frame struct {
	depth  int   // of the children
	kind   uint8 // kindFunc: it has functions and calls; kindScope; or neither
	before state
}

// begin prepares w for a unit of d whose addresses are those of skel.
func (w *Walker) begin(d *Data, unit int, main *Data, skel *Unit) {
	u := d.Unit(unit)
	w.view = d.view(u)
	w.main, w.skel = main, skel
	lists := len(main.s.Ranges) + len(d.s.Rnglists)
	// Many DIEs may share a range list: the bytes read are limited in
	// proportion to the unit and to the sections, so that the work stays
	// linear.
	w.budget = min(4<<10+64*int(u.End-u.Off), 64<<10+2*lists)
	s := &d.tables[u.table]
	t := &w.own
	if s.users > 1 || d.compiled[u.table].Load() != nil {
		t = d.table(u)
	} else {
		t.compile(d.s.Abbrev[s.off:s.end], s.l)
	}
	w.resolver = resolver{d: d, unit: unit, t: t, work: 1<<16 + 16*int(u.End-u.Off)}
	if w.names.round++; w.names.round == 0 {
		w.names = names{round: 1}
	}
	w.tree.Funcs, w.tree.Calls, w.tree.Ranges = w.tree.Funcs[:0], w.tree.Calls[:0], w.tree.Ranges[:0]
	w.calls, w.inner, w.frames, w.scopes = w.calls[:0], w.inner[:0], w.frames[:0], w.scopes[:0]
	w.now = state{fn: -1, call: -1, scope: -1}
	w.scoped, w.reason, w.at = w.scoped[:0], "", 0
}

// skips returns the flags of DIEs that can be skipped together with their
// children.
func (w *Walker) skips() uint8 {
	lang := w.u.Lang
	if lang == 0 {
		lang = w.skel.Lang
	}
	switch FamilyOf(lang) {
	case FamilyC:
		return flagsC
	case FamilyCpp:
		return flagsCpp
	}
	return skipAlways
}

// damage records the first damage.
func (w *Walker) damage(at int, reason string) {
	if w.reason == "" {
		w.at, w.reason = at, reason
	}
}
