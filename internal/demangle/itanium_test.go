package demangle_test

import (
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/demangle"

	lib "github.com/ianlancetaylor/demangle"
)

var cppStyles = map[demangle.Style][]lib.Option{
	demangle.Full:     nil,
	demangle.Bare:     {lib.NoTemplateParams},
	demangle.LLVM:     {lib.LLVMStyle},
	demangle.NoParams: {lib.NoParams, lib.NoEnclosingParams},
	demangle.Simple:   {lib.NoParams, lib.NoEnclosingParams, lib.NoTemplateParams},
}

// corrected are names of which something else may be made than the library does,
// see renumbered and appendCPP, and thunks those of which that is so without parameters.
var (
	corrected = regexp.MustCompile(`sr[0-9]|\$`)
	thunks    = regexp.MustCompile(`^_Z(GT|T[hv])`)
	blocks    = regexp.MustCompile(`U[0-9]+[a-z_]+F`)
)

// asLibrary fails if a name becomes something else than the library makes of it.
func asLibrary(t *testing.T, name string) (readable bool) {
	t.Helper()
	if !strings.HasPrefix(name, "_Z") || corrected.MatchString(name) {
		return false
	}
	for style, options := range cppStyles {
		if thunks.MatchString(name) && (style == demangle.NoParams || style == demangle.Simple) {
			continue
		}
		if style != demangle.LLVM && strings.Contains(name, "adL") || blocks.MatchString(name) {
			continue // see TestFunctionsInTemplateArgumentsHaveTheirParameters and TestBlocksAreTypes
		}
		want, err := lib.ToString(name, append([]lib.Option{lib.MaxLength(14), lib.NoRust}, options...)...)
		switch {
		case err != nil || len(want) >= 1<<14 || want == "" || strings.Contains(want, ", void)"):
			want = name
		case strings.Contains(want, ", >"):
			continue
		default:
			readable = true
		}
		if got := demangle.NameIn(demangle.CPP, name, style); got != want && (got != name || len(want) < 4<<10) {
			t.Errorf("style %d of %s:\n got %s\nwant %s", style, name, got, want)
		}
	}
	return readable
}

// itaniumNames have what is in names of C++, by what it is.
var itaniumNames = []string{
	// functions, variables, operators
	"_Z1fv", "_Z1fiz", "_ZN1a1b1cE", "_ZNK1a1b1cEv", "_ZNVK1a1bERKi", "_ZNKR1a1bEv", "_ZNO1a1bEv", "_ZN12_GLOBAL__N_11fEv", "_ZL1fv", "_ZN1aL1bE",
	"_ZN1aplERKS_", "_ZN1acviEv", "_ZN1acvPFvvEEv", "_ZnwmPv", "_ZN1adlEPv", "_ZdaPvm", "_Zli2_sPKcm", "_ZN1aclEv", "_ZN1aixEm", "_ZltI1aEbT_", "_ZN1alsIiEEvT_",
	"_ZN1acmEv", "_ZN1aptEv", "_ZN1assERKS_", "_ZN1aawEv", "_ZN1acv1bI1cEEv",
	// constructors, destructors, tags
	"_ZN1aC1Ev", "_ZN1aC2ERKS_", "_ZN1aD0Ev", "_ZN1a1bD2Ev", "_ZN1aIiEC1EOS0_", "_ZN1aC1IiEET_", "_ZN1aC1B5cxx11Ev", "_Z1fB3tagB2t2v", "_ZN1aB3tag1bEv",
	"_ZNSsC1Ev", "_ZNSsD1Ev", "_ZNSaIcEC1Ev", "_ZNSiD0Ev", "_ZNSt1aD1Ev", "_ZNSoD1Ev",
	// types
	"_Z1fPKcRVlOd", "_Z1fA3_i", "_Z1fRA3_KA4_i", "_Z1fPA3_PA2_i", "_Z1fPFivE", "_Z1fPFPFivEiE", "_Z1fRFvRKiE", "_Z1fM1aFivE", "_Z1fM1aKFivE", "_Z1fM1ai", "_Z1fM1aFivRE",
	"_Z1fPDoFvvE", "_Z1fDn", "_Z1fDsDiDu", "_Z1fu3abc", "_Z1fCfGd", "_Z1fPrKi", "_Z1fKPKcS1_", "_Z1fKFvvE", "_Z1fPKFvvE", "_Z1fPFvvES0_", "_Z1fKA3_i", "_Z1fDh", "_Z1fPPFPviE",
	"_Z1fPM1aFviE", "_Z1fPVKFvvE", "_ZTIPFvvE", "_ZTSM1aFivE", "_Z1fPA_i", "_Z1fPFA3_ivE", "_ZN1a1bEPKNS_1cE", "_Z6outer2IsEPFilES1_", "_Z1fIiEPFPFvT_ES1_ES1_",
	// std, references
	"_Z1fSsSaIcESbIwESiSoSd", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "_ZNSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEEixERS3_",
	"_ZN1a1b1cERNS_1dES2_RKS_", "_ZSt3endIiET_S0_", "_ZStlsIcERSoS0_T_",
	// templates
	"_Z1fIiEvT_", "_Z1fIRiEvOT_", "_Z1fIOiEvRT_", "_Z1fIKiEvRKT_", "_Z1fIiEvPKT_", "_Z1fILi3EEvRAT__i", "_Z1fILb1ELin4ELj5ELl6ELm7ELx8ELy9EEvv", "_Z1fILc97ELb0EEvv",
	"_Z1fIL1e3EEvv", "_Z1fILDnEEvv", "_Z1fILDn0EEvv", "_Z1fILd3ff0000000000000EEvv", "_Z1fIXadL_Z1gvEEEvv", "_Z1fIXadL_ZN1a1gEiEEEvv", "_Z1fIL_Z1gEEvv", "_Z1fIXadL_Z1gIiEvvEEEvv",
	"_Z1fI1aI1bIcEEEvv", "_Z1fI1aEvN1cIT_E1dE", "_ZN1aIiE1fIcEEvT_", "_Z1fITtEvT_", "_Z1fI1aEvT_IiE", "_ZN1aIiE1bIcE1fEvT_", "_Z1fIFviEEvPT_", "_Z1fIiET_v",
	"_Z1fILi3EE1aIXT_EEv", "_ZN1aIFvvEE1fEv", "_Z1fIiEvM1aT_", "_Z1fIM1aFvvEEvT_",
	// packs
	"_Z1fIJicEEvDpT_", "_Z1fIJEEvDpT_", "_Z1fIJRiOcEEvDpOT_", "_Z1fIJicEEvDpRKT_", "_Z1fIiJicEEv1aIJT_DpT0_EE", "_Z1fIJicEE1aIJDpT_EES2_", "_Z1fIJLi1ELi2EEEv1aIXspT_EE",
	"_Z1fIJKicEEvDpRKT_", "_Z1fIJicEJsdEEvDp1aIT_T0_E", "_Z1fIJicEEvDp1aIJDpT_EE", "_Z1fIiJEEvT_DpT0_", "_Z1fIJicEEvDpSt4pairIT_S1_E", "_Z1fIJicEJbdEEvDpSt4pairIT_T0_E", "_Z1fI1aIJEEEvv", "_Z1fI1aIJEiEEvv", "_Z1fIiEvDpT_",
	// local names, lambdas
	"_ZZ1fvE1a", "_ZZ1fvE1a_0", "_ZZ1fvE1a__12_", "_ZZ1fiENK1a1bEv", "_ZZ1fvENKUlvE_clEv", "_ZZ1fvENKUliE0_clEi", "_ZZ1fvEs", "_ZZ1fvEs_0", "_ZZ1fiEd_N1a1bE", "_ZZ1fiEd0_1a",
	"_ZZ1fIiEvT_E1a", "_ZZ1fIiEvT_ENKUlS_E_clES_", "_ZZN1aC1EvENKUlT_E_clIiEEDaS0_", "_ZZ1fvENKUlRT_E_clI1aEEDaS0_", "_ZZ1fvENKUlDpOT_E_clIJicEEEDaS1_", "_ZZ1fvENKUlRT_T0_E_clIicEEDaS0_S1_",
	"_ZN1aUlvE_D1Ev", "_ZN1aUt_1bE", "_ZN1aUt0_E", "_Z1fIZ1gvEUlvE_EvT_", "_Z1fIZ1gIiEvT_EUlS0_E_EvS0_", "_ZN1a1bMUlvE_clEv", "_ZZZ1fvENKUlvE_clEvE1a", "_ZZ1fIiEPT_vE1a",
	"_ZZ1fIiEvT_ENKUlPS_S0_E_clES0_S1_", "_ZZ1fvENKUlPT_1aIS0_S0_EE_clIiEEDaS0_S2_",
	// what there is of them
	"_ZTV1a", "_ZTI1aIiE", "_ZTSN1a1bE", "_ZTT1a", "_ZTC1a8_1b", "_ZThn16_N1a1fEv", "_ZTv0_n24_N1a1fEv", "_ZTch0_v0_n24_N1a1fEv", "_ZGV1a", "_ZGVZ1fvE1a", "_ZGR1a_", "_ZGR1a0_",
	"_ZTW1a", "_ZGW1a", "_ZGH1a", "_ZLH1a", "_ZGt1fv", "_ZTHN1a1bE", "_ZGTtN1a1fEv", "_ZTIZ1fvE1a",
	// clones
	"_Z1fv.cold", "_Z1fv.constprop.0", "_Z1fv.isra.0.part.1", "_Z1fv.part.0.cold", "_Z1fv.llvm.123", "_Z1fv.1", "_Z1fv..", "_Z1fv.A",
	// what is left to the library, and what is no name
	"_Z1fIiEDTcl1gfp_EET_", "_Z1fIiEvN1aIXaasr1bIT_E1vLb1EEE1cE", "_Z1fDv4_f", "_ZN1aCI11bEi", "_ZN1acvT_IiEEv", "_Z1fUa3abci", "_Z", "_Z1f", "_Z2f", "_ZN1aE1b", "_ZN1a", "_Z1fvE",
	"_Z1fS_", "_Z1fT_", "_ZC1Ev", "_Z1fKKi", "_Z1fRRi", "_Z1fRKFvvE", "_Z1fIKFvvEEvRKT_", "_Z1fIKiEvA3_T_", "_Z1fIViEvRKT_", "_ZL1f5", "_Z1fPFvvREKS0_", "_ZSsC1", "_Z1fIKiEN1bIT_E1cENKT_E", "_Z1fIKiEvNKT_E", "_Z1fI1aEvDpT_IiE",
}

func TestCPPNamesAreWhatTheLibraryMakesOfThem(t *testing.T) {
	for _, name := range itaniumNames {
		asLibrary(t, name)
	}
}

func TestLongCPPNamesAreWhatTheLibraryMakesOfThem(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, shape := range shapes {
		if name := filled(r, shape); !asLibrary(t, name) {
			t.Errorf("%s is not read", name)
		}
	}
}

func TestMadeUpCPPNamesAreWhatTheLibraryMakesOfThem(t *testing.T) {
	made, readable := 20000, 0
	m := nameMaker{rand.New(rand.NewSource(1))}
	for range made {
		if asLibrary(t, m.name()) {
			readable++
		}
	}
	if readable < made/4 {
		t.Errorf("%d of %d names are readable", readable, made)
	}
}

func TestTextOfCPPNamesHasALimit(t *testing.T) {
	for n, written := range map[int]bool{50: true, 60: false} {
		name := "_Z1f300" + strings.Repeat("a", 300) + strings.Repeat("S_", n)
		if (demangle.Name(name, demangle.Full) != name) != written {
			t.Errorf("%d references became %.100s", n, demangle.Name(name, demangle.Full))
		}
	}
}

// nameMaker makes up names that could be of C++.
type nameMaker struct{ *rand.Rand }

func (m nameMaker) name() string {
	name := "_Z" + m.encoding(3)
	if m.Intn(10) == 0 {
		name += m.one(".cold", ".constprop.0", ".part.1.isra.2")
	}
	return name
}

func (m nameMaker) one(of ...string) string { return of[m.Intn(len(of))] }

// some is one of what the functions make, while there is depth, else a leaf.
func (m nameMaker) some(depth int, leaf string, of ...func(int) string) string {
	if depth <= 0 || m.Intn(3) == 0 {
		return leaf
	}
	return of[m.Intn(len(of))](depth - 1)
}

func (m nameMaker) encoding(depth int) string {
	if m.Intn(12) == 0 {
		return m.one("TV", "TI", "TS", "Th8_N1aE", "GV") + m.class(depth)
	}
	name, result := m.class(depth), ""
	if at := strings.TrimSuffix(name, "E"); name[0] == 'N' && at[len(at)-1] == 'E' || name[0] != 'N' && name[len(name)-1] == 'E' {
		result = m.typ(depth - 1)
	}
	if m.Intn(10) == 0 {
		return name
	}
	return name + result + m.list(depth, m.typ, "v")
}

func (m nameMaker) list(depth int, item func(int) string, none string) string {
	list := ""
	for range m.Intn(4) {
		list += item(depth - 1)
	}
	if list == "" {
		return none
	}
	return list
}

func (m nameMaker) class(depth int) string {
	plain := func(int) string { return m.one("1a", "2bc", "St3def", "3_gh", "12_GLOBAL__N_1", "1aB2xy") }
	nested := func(depth int) string {
		name := "N" + m.one("", "", "", "K", "V", "KR", "O") + m.one("", "", "St", "S_", "S0_") + "1a"
		for range 1 + m.Intn(3) {
			name += m.one("1b", "2cd", "3efg", "pl", "cl", "C1", "D2", "Ut_", "UlvE_", "Ul"+m.list(depth, m.typ, "v")+"E0_", "1xB1t", "cv"+m.typ(depth-1), m.arguments(depth-1))
		}
		return name + "E"
	}
	template := func(depth int) string { return m.one("1t", "2uv", "St1w", "Sa", "S_", "lt") + m.arguments(depth) }
	local := func(depth int) string {
		return "Z" + m.encoding(depth) + "E" + m.one("1l", "s", "d_1l", "1l_0", "N1k1mE", "NK1n1oE", "NKUl"+m.list(depth, m.typ, "T_")+"E_clE")
	}
	return m.some(depth, plain(0), nested, nested, template, template, local)
}

func (m nameMaker) arguments(depth int) string {
	return "I" + m.list(depth, m.argument, "i") + "E"
}

func (m nameMaker) argument(depth int) string {
	return m.some(depth, m.one("i", "1a", "Li5E", "Lb1E", "Lm3E", "Ln2E", "T_", "XT_E", "LDnE", "L1e2E"), m.typ, m.typ,
		func(depth int) string { return "J" + m.list(depth, m.argument, "") + "E" },
		func(depth int) string { return "L_Z" + m.encoding(depth) + "E" },
		func(depth int) string { return "XadL_Z" + m.encoding(depth) + "EE" },
		func(depth int) string { return m.one("XspT_E", "XspT0_E") })
}

func (m nameMaker) typ(depth int) string {
	reference := m.one("S_", "S0_", "S1_", "S2_", "S3_", "S4_", "S5_", "T_", "T_", "T0_", "Ss", "Sa", "So")
	leaf := m.one("i", "c", "m", "b", "v", "1a", "Dn", "z", "S_", "T_", reference, reference, reference)
	marked := func(depth int) string {
		return m.one("P", "R", "O", "K", "PK", "RK", "VK", "M1a", "A3_", "C") + m.typ(depth)
	}
	function := func(depth int) string {
		return m.one("P", "R", "K", "M1a", "M1aK", "") + "F" + m.typ(depth) + m.list(depth, m.typ, "v") + m.one("", "", "", "R", "O") + "E"
	}
	expansion := func(depth int) string {
		return "Dp" + m.one("", "R", "O", "RK", "P") + m.one("T_", "T0_", "S1_", "1aIT_E")
	}
	again := func(depth int) string { return reference + m.arguments(depth) }
	return m.some(depth, leaf, marked, marked, m.class, m.class, function, expansion, again)
}

func FuzzItanium(f *testing.F) {
	for _, name := range itaniumNames {
		f.Add(name)
	}
	m := nameMaker{rand.New(rand.NewSource(2))}
	for range 100 {
		f.Add(m.name())
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) <= 160 && strings.Count(name, "Dp") < 3 {
			asLibrary(t, name)
		}
	})
}

// shapes are names as large libraries have them, with words to put in.
var shapes = []string{
	"_ZN#1##2##3#ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPKcjRSt6vectorIS7_SaIS7_EE",
	"_ZNSt6vectorISt10shared_ptrIN#1##2##3#EESaIS4_EE17_M_realloc_insertIJRKS4_EEEvN9__gnu_cxx17__normal_iteratorIPS4_S6_EEDpOT_",
	"_ZNSt8_Rb_treeIN#1##2#ESt4pairIKS1_N#1##3#EESt10_Select1stIS5_ESt4lessIS1_ESaIS5_EE24_M_get_insert_unique_posERS3_",
	"_ZNSt10_HashtableIN#1##2#ESt4pairIKS1_St10unique_ptrIN#1##3#ESt14default_deleteIS5_EEESaIS9_ENSt8__detail10_Select1stESt8equal_toIS1_ESt4hashIS1_E" +
		"NSB_18_Mod_range_hashingENSB_20_Default_ranged_hashENSB_20_Prime_rehash_policyENSB_17_Hashtable_traitsILb1ELb0ELb1EEEE9_M_rehashEmRKm",
	"_ZZN#1##2##3#EmRKNS_5orderEENKUlRT_iE_clIS1_EEDaS5_i",
	"_ZNSt17_Function_handlerIFviEZN#1##2##3#EvEUliE_E10_M_managerERSt9_Any_dataRKS4_St18_Manager_operation",
	"_ZNK#1##2#I#3#jLm16ELb1EE4findERKS1_mPFbRS3_PKvE",
	"_ZSt11make_sharedIN#1##2##3#EJRKSsRiEESt10shared_ptrINSt9remove_cvIT_E4typeEEDpOT0_",
	"_ZN#1##2#C2EONS_#3#EPFiPvES3_", "_ZTVN#1##2##3#E", "_ZThn24_N#1##2##3#Ev", "_ZGVZN#1##2##3#EvE8instance",
	"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_", "_ZN#1##2##3#EjPKhRSo.constprop.0",
}

// filled is the shape with words of random length.
func filled(r *rand.Rand, shape string) string {
	for _, place := range []string{"#1#", "#2#", "#3#"} {
		word := strings.Repeat("wordofaname", 3)[:4+r.Intn(20)]
		shape = strings.ReplaceAll(shape, place, strconv.Itoa(len(word))+word)
	}
	return shape
}

func BenchmarkItanium(b *testing.B) {
	r := rand.New(rand.NewSource(3))
	names, size := make([][]byte, 1400), 0
	for i := range names {
		name := filled(r, shapes[i%len(shapes)])
		if demangle.Name(name, demangle.Full) == name {
			b.Fatal(name)
		}
		names[i] = []byte(name)
		size += len(name)
	}
	var buffer [8 << 10]byte
	for _, x := range []struct {
		kind  string
		style demangle.Style
	}{{"bare", demangle.Bare}, {"full", demangle.Full}} {
		b.Run(x.kind, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size / len(names)))
			for i := 0; b.Loop(); i++ {
				demangle.Append(buffer[:0], names[i%len(names)], x.style)
			}
		})
		b.Run(x.kind+"/library", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size / len(names)))
			options := append([]lib.Option{lib.MaxLength(14), lib.NoRust}, cppStyles[x.style]...)
			for i := 0; b.Loop(); i++ {
				lib.ToString(string(names[i%len(names)]), options...)
			}
		})
	}
}
