package strtab

import (
	"slices"
	"testing"
)

// shown returns a name with { } around the content of its brackets and | after
// scopes.
func shown(name string) string {
	var s scanner
	s.scan([]byte(name))
	out := []byte(name)
	for _, m := range slices.Backward(s.marks) {
		switch m.sort {
		case markOpen:
			out = slices.Insert(out, m.at+1, '{')
		case markClose:
			out = slices.Insert(out, m.at, '}')
		case markScope:
			out = slices.Insert(out, m.at, '|')
		}
	}
	return string(out)
}

func TestMangledBrackets(t *testing.T) {
	for _, want := range []string{
		"_Z3fooN{|1a|1b}E",                                     // an argument
		"_ZN{|3std|6vectorI{i}E|9push_back}ERKi",               // a template
		"_ZN{|4INFE|C1}Ev",                                     // letters of names are not part of the grammar
		"_ZN{St|6vectorI{iSaI{i}E}E|D2}Ev",                     // std, and a destructor
		"_Z1fI{Lb1ELi10EL{N{|1a|1b}E3}EL{3FNE1}EL{S1E_0}E}Evv", // literals, of enumerations too
		"_Z1fI{X{adL{_Z3barv}E}E}Evv",                          // the address of a function
		"_Z1fPF{vN{|1a|1b}E}ES_",                               // a type of functions
		"_ZZ{N{|1a|1b}Ev}EN{KU{li}E12_cl}Ei",                   // a lambda in a function, and its number
		"_Z1fI{J{ifd}E}EvDpT_",                                 // a pack
		"_Z1fRA5_KcN{|1a|1b}E",                                 // an array
		"_ZN{|1a|1b}Ev.isra.0N1cE",                             // suffix of a compiler
		"_ZN{|1a|1b}ENS_3barIiv",                               // not closed
		"_Z99abc", "_Z", "_ZEEE", "_ZA", "_ZL", "_ZS", "_ZT",   // not names
	} {
		name := make([]byte, 0, len(want))
		for _, c := range []byte(want) {
			if c != '{' && c != '}' && c != '|' {
				name = append(name, c)
			}
		}
		if got := shown(string(name)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Bytes of 0x80 and more would be read as references.
func TestIsMangledRejectsNonASCII(t *testing.T) {
	for name, want := range map[string]bool{"_ZN3foo3barE": true, "_ZN3foo4b\xfe\x01rE": false, "_ZN3foo3b\x80rE": false, "_Z3foov": false, "__ZN3foo3barE": false, "ZN3foo3barEEE": false} {
		if got := isMangled([]byte(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
