package swift

import "strconv"

// derivativeKinds are the functions that the compiler derives from one that is
// differentiable, by letter.
var derivativeKinds = words{
	{"f", "forward-mode derivative"}, {"r", "reverse-mode derivative"}, {"d", "differential"}, {"p", "pullback"},
}

// differentiabilityKinds are the kinds of records of derivatives, by letter.
var differentiabilityKinds = words{{"f", "forward-mode"}, {"r", "reverse-mode"}, {"d", "normal"}, {"l", "linear"}}

// parseDerivative reads a derivative of a function, or a thunk of one.
func (s *demangler) parseDerivative() ref {
	prefix := ""
	switch {
	case s.Accept('O'):
		return s.parseReordering()
	case s.Accept('S'):
		return s.parseSubset()
	case s.Accept('V'):
		prefix = "vtable thunk for "
	}
	return s.addDerivative(prefix, derivativeKinds, " of $0")
}

// addDerivative takes a function, and reads the kind of its derivative, and for which
// parameters and results it is. The short styles do not have those.
func (s *demangler) addDerivative(prefix string, kinds words, suffix string) ref {
	sig := s.popIf(kSignature)
	function := patternArguments['f'](s)
	kind, params, results := s.parseLetter(kinds), s.parseIndices('p'), s.parseIndices('r')
	if function == 0 || kind == "" || params == "" || results == "" {
		return 0
	}
	short := prefix + kind + suffix
	full := short + " with respect to parameters " + params + " and results " + results
	if sig != 0 {
		full += " with $1"
	}
	return s.addText(kPhrase, full+"|"+short, function, sig)
}

// parseReordering takes two types that differ in the place of self.
func (s *demangler) parseReordering() ref {
	kind := s.parseLetter(derivativeKinds)
	sig := patternArguments['s'](s)
	to := s.popType()
	if kind == "" {
		return 0
	}
	return s.addPhrase(kPhrase, "autodiff self-reordering reabstraction thunk for "+kind+" $0from $1 to $2", sig, s.popType(), to)
}

// parseSubset takes a type, and perhaps the function that has it, for a thunk that is
// differentiated with respect to fewer parameters.
func (s *demangler) parseSubset() ref {
	s.popIf(kSignature)
	t, function := s.popType(), ref(0)
	kind := s.parseLetter(derivativeKinds)
	params, results, to := s.parseIndices('p'), s.parseIndices('r'), s.parseIndices('P')
	if t == 0 || kind == "" || params == "" || results == "" || to == "" {
		return 0
	}
	short := "autodiff subset parameters thunk for " + kind + " from $0"
	full := short + " with respect to parameters " + params + " and results " + results + " to parameters " + to
	if len(s.stack) == 0 {
		return s.addPhrase(kPhrase, full+"|"+short, t)
	}
	function = patternArguments['f'](s)
	return s.addPhrase(kPhrase, full+" of type $1|"+short, function, t)
}

// parseIndices reads which elements are in a set: S for one that is, U for one
// that is not.
func (s *demangler) parseIndices(end byte) string {
	text := []byte{'{'}
	for i := 0; !s.Accept(end); i++ {
		c := s.Next()
		if !s.Spend(1) || c != 'S' && c != 'U' {
			return ""
		}
		if c == 'S' && len(text) > 1 {
			text = append(text, ", "...)
		}
		if c == 'S' {
			text = strconv.AppendInt(text, int64(i), 10)
		}
	}
	return string(text) + "}"
}
