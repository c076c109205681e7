package itanium_test

import (
	"bytes"
	"flag"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/demangletest"
	"symbolon/internal/demangle/itanium"
)

var update = flag.Bool("update", false, "write the readable forms in testdata/names.txt")

// demangle returns the readable form of a name, or the name if it has none.
func demangle(name string, style core.Style) string {
	steps := core.Steps(len(name))
	out, ok := itanium.Append(nil, []byte(name), style, &steps)
	if !ok {
		return name
	}
	return string(out)
}

const goldenFile = "testdata/names.txt"

// goldenNames returns the names of the golden file.
func goldenNames(t testing.TB) []string {
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "_") {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names
}

func TestGoldenNames(t *testing.T) {
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	name := ""
	style := core.Full
	for line := range strings.Lines(string(want)) {
		if !strings.HasPrefix(line, "\t") {
			got.WriteString(line)
			name, style = strings.TrimSpace(line), core.Full
			continue
		}
		text := "\t" + demangle(name, style) + "\n"
		if text != line && !*update {
			t.Errorf("%s, style %d:\n got %swant %s", name, style, text, line)
		}
		got.WriteString(text)
		style = core.LLVM
	}
	if *update {
		if err := os.WriteFile(goldenFile, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameNamesInOtherStyles(t *testing.T) {
	for _, x := range []struct {
		name  string
		style core.Style
		want  string
	}{
		{"_ZNK1A1fIiEEvT_", core.Called, "A::f<int>(int) const"},
		{"_ZTIFviE", core.Called, "typeinfo for void (int)"},
		{"_ZZN1A1fEvENKUlvE_clEv", core.NoParams, "A::f()::{lambda()#1}::operator()"},
		{"_ZZN1A1fEiENKUlvE_clEv", core.NoParams, "A::f()::{lambda()#1}::operator()"},
		{"_ZThn16_N1A1fEi", core.NoParams, "non-virtual thunk to A::f"},
		{"___Z1fi_block_invoke", core.NoParams, "invocation function for block in f"},
		{"_ZN1AI1BIiEE1fEPS1_", core.Bare, "A::f(B*)"},
		{"_ZN1AI1BIiEE1fEPS1_", core.Simple, "A::f"},
	} {
		if got := demangle(x.name, x.style); got != x.want {
			t.Errorf("%s, style %d: got %s, want %s", x.name, x.style, got, x.want)
		}
	}
}

// Each prefix of a name ends within a part of it.
func TestTruncatedNamesAreRefusedOrWritten(t *testing.T) {
	for _, name := range goldenNames(t) {
		for end := range name {
			for _, style := range []core.Style{core.Full, core.LLVM} {
				demangle(name[:end], style)
			}
		}
	}
}

func TestNamesOfTooManyLevelsAreRefused(t *testing.T) {
	for _, x := range []struct {
		name, before, repeated, after string
		levels                        int
	}{
		{"pointers", "_Z1f", "P", "i", 300},
		{"templates", "_Z1f", "1aI", "i", 300},
		{"expressions", "_Z1fIiEvDT", "ng", "Li1EE", 300},
		{"lists", "_Z1fIiEvDT", "il", "E", 300},
		{"designators", "_Z1fIiEvDTil", "dx", "Li1E", 300},
		{"functions", "_Z", "Z", "1fvE", 300},
		{"thunks", "_Z", "GTt", "1fv", 300},
		{"template parameters", "_Z1fIiEvDTL", "Tp", "Ty", 300},
		{"packs", "_Z1fI", "J", "E", 300},
	} {
		name := x.before + strings.Repeat(x.repeated, x.levels) + x.after
		if got := demangle(name, core.Full); got != name {
			t.Errorf("%s: %d levels became %.80s", x.name, x.levels, got)
		}
	}
}

func TestHostileNamesEndSoon(t *testing.T) {
	doubling := "_Z1f1AIiiE"
	for i := range 17 {
		s := "S" + strconv.FormatInt(int64(i), 36) + "_"
		if i == 0 {
			s = "S0_"
		}
		doubling += "S_I" + strings.ToUpper(s) + strings.ToUpper(s) + "E"
	}
	for what, name := range map[string]string{
		"doubled templates":         doubling,
		"packs of packs":            "_Z1fIJ" + strings.Repeat("i", 2000) + "EEv" + strings.Repeat("Dp1aI", 100) + "T_" + strings.Repeat("E", 100),
		"an operator of itself":     "_ZN1acvPT_I" + strings.Repeat("PT_", 200) + "EEv",
		"a parameter of itself":     "_ZN1acvT_IPT_EEv",
		"qualifiers of a parameter": "_ZN1acvKT_IKT_EEv",
		"references to a parameter": "_ZN1acvRT_IRT_EEv",
		"substitutions of chains":   "_Z1f" + strings.Repeat("PK", 120) + "i" + strings.Repeat("S_", 3900),
		"a scope that is retried":   "_Z1fIiEv" + strings.Repeat("DTsrNT_1xE", 800) + "1v",
	} {
		start := time.Now()
		for _, style := range []core.Style{core.Full, core.LLVM} {
			demangle(name, style)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: took %v", what, took)
		}
	}
}

func FuzzCPP(f *testing.F) {
	for _, name := range goldenNames(f) {
		f.Add([]byte(name))
	}
	demangletest.Fuzz(f, itanium.Append)
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

func BenchmarkAppend(b *testing.B) {
	r := rand.New(rand.NewSource(3))
	names, size := make([][]byte, 1400), 0
	for i := range names {
		name := filled(r, shapes[i%len(shapes)])
		if demangle(name, core.Full) == name {
			b.Fatal(name)
		}
		names[i] = []byte(name)
		size += len(name)
	}
	var buffer [8 << 10]byte
	for _, x := range []struct {
		name  string
		style core.Style
	}{{"bare", core.Bare}, {"full", core.Full}, {"llvm", core.LLVM}} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size / len(names)))
			for i := 0; b.Loop(); i++ {
				name := names[i%len(names)]
				steps := core.Steps(len(name))
				itanium.Append(buffer[:0], name, x.style, &steps)
			}
		})
	}
}
