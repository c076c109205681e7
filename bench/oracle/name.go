package oracle

import (
	"context"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/demangle"
)

var (
	cloneMark   = regexp.MustCompile(`\s*\[clone [^\]]*\]`)
	cloneSuffix = regexp.MustCompile(`\.(abi0|cold|constprop|isra|part|llvm|lto_priv|localalias)(\.\d+)*`)
	underscores = regexp.MustCompile(`^_*Z([A-Za-z0-9])`)     // in PE files some leave one, some take one too many
	conventions = regexp.MustCompile(`^[@_]?([\w$]+)@@?\d+$`) // of C on Windows
	rustHash    = regexp.MustCompile(`::h[0-9a-f]{16}$`)
	lambda      = regexp.MustCompile(`\{lambda\(.*?\)#\d+\}|'lambda\d*'(\(.*?\))?|\$_\d+|\{\{closure\}\}|\{closure#\d+\}`)
	trailing    = regexp.MustCompile(`(const|volatile|&|&&|noexcept|\s)+$`)
	rustEscapes = strings.NewReplacer("$LT$", "<", "$GT$", ">", "$u20$", " ", "$u7b$", "{", "$u7d$", "}", "$RF$", "&", "..", "::")
	namespaces  = strings.NewReplacer("(anonymous namespace)", "{anon}", "(anonymous class)", "{anon}")
)

// base is the last component of a demangled name: no parameters, arguments of
// templates, marks of clones, leading underscores or type in front.
func base(n string) string {
	n = cloneSuffix.ReplaceAllString(cloneMark.ReplaceAllString(n, ""), "")
	n = rustHash.ReplaceAllString(namespaces.Replace(n), "")
	n = conventions.ReplaceAllString(n, "$1")
	n = rustEscapes.Replace(n)
	if k := operatorAt(n); k >= 0 {
		n = n[:k] + "operator"
	}
	n = lambda.ReplaceAllString(n, "LAMBDA")
	var out strings.Builder
	depth := 0
	for _, c := range n {
		switch {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth = max(0, depth-1)
		case depth == 0:
			out.WriteRune(c)
		}
	}
	last := trailing.ReplaceAllString(out.String(), "")
	last = strings.TrimSuffix(last, "::")
	last = last[strings.LastIndex(last, "::")+1:]
	last = strings.TrimLeft(last[strings.LastIndexByte(last, ' ')+1:], ":*&")
	if short := strings.TrimLeft(last, "_."); short != "" {
		return short
	}
	return last
}

// operatorAt is where the word operator begins: what follows may hold any sign.
func operatorAt(n string) int {
	word := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	k := strings.Index(n, "operator")
	if k < 0 || k > 0 && word(n[k-1]) || k+8 < len(n) && word(n[k+8]) {
		return -1
	}
	return k
}

// sameFile is whether two paths may be one: equal, or one the end of the other.
func sameFile(a, b string) bool {
	clean := func(p string) string { return path.Clean(strings.ReplaceAll(p, `\`, "/")) }
	a, b = clean(a), clean(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "/"))
}

// demangle makes the names of all answers readable with one program for all:
// who finds the right name is compared, not who prints it how.
func (k *asker) demangle(ctx context.Context, lists [][]answer) {
	names := map[string]string{}
	each := func(do func(f *frame)) {
		for _, list := range lists {
			for _, a := range list {
				for i := range a {
					do(&a[i])
				}
			}
		}
	}
	each(func(f *frame) {
		f.Function = underscores.ReplaceAllString(f.Function, "_Z$1")
		names[f.Function] = f.Function
		if strings.HasPrefix(f.Function, "?") { // few peers read those of MSVC
			names[f.Function] = demangle.Name(f.Function, demangle.NoParams)
		}
	})
	mangled := slices.DeleteFunc(slices.Collect(maps.Keys(names)), func(n string) bool {
		return !strings.HasPrefix(strings.TrimLeft(n, "_."), "Z") && !strings.HasPrefix(n, "_R")
	})
	cmd := exec.CommandContext(ctx, k.filt[0], k.filt[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(mangled, "\n") + "\n")
	out, _ := cmd.Output()
	for i, name := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if i < len(mangled) && name != "" {
			names[mangled[i]] = name
		}
	}
	each(func(f *frame) { f.Function = names[f.Function] })
}
