package swift

// Conventions of implementation types by letter.
var (
	implCallees = words{
		{"y", "@callee_unowned"}, {"g", "@callee_guaranteed"}, {"x", "@callee_owned"}, {"t", "@convention(thin)"},
	}
	implLanguages = words{
		{"B", "@convention(block)"}, {"C", "@convention(c)"}, {"M", "@convention(method)"},
		{"J", "@convention(objc_method)"}, {"K", "@convention(closure)"}, {"W", "@convention(witness_method)"},
	}
	implCoroutines = words{
		{"A", "@yield_once"}, {"I", "@yield_once_2"}, {"G", "@yield_many"},
	}
	implParameters = words{
		{"i", "@in"}, {"c", "@in_constant"}, {"l", "@inout"}, {"b", "@inout_aliasable"}, {"n", "@in_guaranteed"},
		{"x", "@owned"}, {"X", "@in_cxx"}, {"g", "@guaranteed"}, {"e", "@deallocating"}, {"y", "@unowned"},
		{"v", "@pack_owned"}, {"p", "@pack_guaranteed"}, {"m", "@pack_inout"},
	}
	implResults = words{
		{"r", "@out"}, {"o", "@owned"}, {"d", "@unowned"}, {"u", "@unowned_inner_pointer"}, {"a", "@autoreleased"},
		{"k", "@pack_out"}, {"l", "@guaranteed_address"}, {"g", "@guaranteed"}, {"m", "@inout"},
	}
)

// parseImplFunction reads a function type as the compiler sees it: with how each
// value is passed. The types are on the stack.
func (s *demangler) parseImplFunction() ref {
	var pattern, patternArgs, invocation ref
	if s.Accept('s') {
		lists, ok := s.parseArguments()
		if pattern = s.popIf(kSignature); !ok || len(lists) != 1 || pattern == 0 {
			return 0
		}
		patternArgs = lists[0]
	}
	if s.Accept('I') {
		lists, ok := s.parseArguments()
		if !ok || len(lists) != 1 {
			return 0
		}
		invocation = lists[0]
	}
	sig := s.popIf(kSignature)
	s.Accept('P')
	text := ""
	if s.Accept('e') {
		text = "@escaping "
	}
	if s.Accept('A') {
		text += "@isolated(any) "
	}
	for i, table := range [...]words{derivatives, implCallees, implLanguages, implCoroutines, {{"h", "@Sendable"}}, {{"H", "@async"}}} {
		if word := s.parseLetter(table); word != "" {
			text += word + " "
		} else if i == 1 {
			return 0
		}
	}
	if sig != 0 {
		text += "$4 "
	}
	if pattern != 0 {
		text += "@substituted $3 "
	}
	text += "($0) -> "
	if s.Accept('T') {
		text += "sending "
	}
	text += "($1)"
	if patternArgs != 0 {
		text += " for <$2>"
	}
	if invocation != 0 {
		text += " for <$5>"
	}
	var params, results []ref
	for s.parseImplValue(&params, "", true) {
	}
	for s.parseImplValue(&results, "", false) {
	}
	ok := true
	for ok && s.Accept('Y') {
		ok = s.parseImplValue(&results, "@yields ", true)
	}
	if ok && s.Accept('z') {
		ok = s.parseImplValue(&results, "@error ", false)
	}
	if !ok || !s.Accept('_') || !s.parseImplTypes(results) || !s.parseImplTypes(params) {
		return 0
	}
	return s.wrapType(s.addText(kComplex, text, s.addOptional(kList, 0, params...), s.addOptional(kList, 0, results...), patternArgs, pattern, sig, invocation))
}

// parseImplValue reads how one value is passed, as a parameter or a result.
func (s *demangler) parseImplValue(list *[]ref, before string, isParameter bool) bool {
	table := implResults
	if isParameter {
		table = implParameters
	}
	word := s.parseLetter(table)
	if word == "" || len(*list) >= maxDepth {
		return false
	}
	for more := true; more; {
		switch {
		case !s.Spend(len(word)):
			return false
		case s.Accept('w'):
			word += " @noDerivative"
		case isParameter && s.Accept('T'):
			word += " sending"
		case isParameter && (s.Accept('I') || s.Accept('L')): // an isolated or implicit actor
		default:
			more = false
		}
	}
	*list = append(*list, s.addText(kPhrase, before+word+" $0", 0))
	return true
}

// parseImplTypes takes the types of values, the last one first.
func (s *demangler) parseImplTypes(list []ref) bool {
	for i := len(list) - 1; i >= 0; i-- {
		t := s.popType()
		if t == 0 || list[i] == 0 {
			return false
		}
		s.Lists[s.Nodes[list[i]].kids.at] = t
	}
	return true
}
