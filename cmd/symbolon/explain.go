package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
)

func explainCommand() *command {
	var conf configFlags
	var asJSON bool
	var purpose, kind string
	return &command{
		name:  "explain",
		args:  "DEBUGNAME/DEBUGID | CODENAME/CODEID | DEBUGNAME/DEBUGID CODENAME/CODEID | FILEID",
		short: "Tell what happens when the symbols of one module are looked up, and why",
		long: `Every place that is asked, what it answered, what is remembered and until
when, why the chosen file was chosen, and what to do when there is none.

A CODEID of 40 digits is taken as the build id of an ELF file; a shorter build
id needs --type elf.

A running server of the data directory is asked what it sees. Without one the
directory is opened for this question. With --source the sources named are
asked directly and nothing is remembered.`,
		flags: func(fs *flag.FlagSet) {
			conf.add(fs)
			fs.StringVar(&purpose, "purpose", locate.SymFirst.String(), "what the file is wanted for: `sym-first`, as the Mozilla interfaces ask; debug, symbols, unwind or sources, as Sentry's does; debug or returnpads, as Elastic's does for a FILEID")
			fs.StringVar(&kind, "type", "", "what the module is: `elf`, macho, pe, pe_dotnet or wasm; one of Mozilla's interfaces has none")
			fs.BoolVar(&asJSON, "json", false, "print the trail as JSON")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			m, err := namedModule(args, kind)
			if err != nil {
				return &usageError{text: err.Error()}
			}
			q := question{Module: m}
			var known bool
			if q.Purpose, known = locate.ParsePurpose(purpose); !known {
				return &usageError{text: fmt.Sprintf("there is no purpose %q", purpose)}
			}
			if q.Purpose == locate.SymFirst && !m.FileID.IsZero() {
				q.Purpose = locate.Debug
			}
			op, err := conf.asker(ctx, e)
			if err != nil {
				return err
			}
			defer op.close()
			x, err := op.explain(ctx, q)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(e.stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(x)
			}
			x.print(e.stdout)
			return nil
		},
	}
}

// namedModule is the module that a command line names, by one of its files or
// by both.
func namedModule(args []string, kind string) (m ident.Module, err error) {
	if len(args) != 1 && len(args) != 2 {
		return m, errors.New("name one module, as in xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2")
	}
	if m, err = parseModule(args[0]); err != nil {
		return m, err
	}
	if len(args) == 2 {
		name, id, cut := cutLast(args[1])
		if m.CodeID = ident.ParseCodeID(id); !cut || m.CodeID.IsZero() || m.DebugID.IsZero() {
			return m, fmt.Errorf("of two the first is DEBUGNAME/DEBUGID, the second CODENAME/CODEID: %q, %q", args[0], args[1])
		}
		m.CodeFile = name
		if kind == "" && len(m.CodeID) >= 32 && !ident.BuildID(m.CodeID).Fits(m.DebugID) {
			return m, fmt.Errorf("code id %s does not belong to debug id %s", m.CodeID, m.DebugID.Breakpad())
		}
	}
	if kind != "" {
		if m.Type = ident.ParseType(kind); m.Type == ident.TypeUnknown {
			return m, fmt.Errorf("there is no type %q", kind)
		}
	}
	if m.Type == ident.TypeELF && m.DebugFile == "" {
		m.DebugFile = m.CodeFile
	}
	return m, nil
}

// cutLast is what stands before and behind the last slash.
func cutLast(text string) (name, id string, cut bool) {
	i := strings.LastIndexByte(text, '/')
	if i <= 0 || i == len(text)-1 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

// buildIDDigits is the length of most build ids of ELF files. A debug id is as
// long only if its age has eight digits, as those of portable PDBs have.
const buildIDDigits = 40

// parseModule parses NAME/ID, or a file id. An ID is a debug id if it can be one,
// else a code id: of an ELF file if it is as long as a build id. Of 40 digits
// only the id of a .pdb file is a debug id.
func parseModule(text string) (ident.Module, error) {
	if file, err := ident.ParseFileID(text); err == nil {
		return ident.Module{FileID: file}, nil
	}
	name, id, cut := cutLast(text)
	if !cut {
		return ident.Module{}, fmt.Errorf("%q is not NAME/ID", text)
	}
	_, behind, _ := strings.Cut(name, "/")
	first, _, two := strings.Cut(behind, " ")
	if _, err := ident.ParseDebugID(first); two && err == nil {
		return ident.Module{}, fmt.Errorf("%q names two files: quote each NAME/ID by itself", text)
	}
	digits := len(strings.ReplaceAll(id, "-", ""))
	if d, err := ident.ParseDebugID(id); err == nil && digits >= 32 && (digits < buildIDDigits || isPDB(name)) {
		return ident.Module{DebugFile: name, DebugID: d, DebugIDText: id}, nil
	}
	if strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return ident.Module{}, fmt.Errorf("%q is neither a debug id (32 hexadecimal digits and an age) nor a code id", id)
	}
	m := ident.Module{CodeFile: name, CodeID: ident.ParseCodeID(id)}
	if len(m.CodeID) == buildIDDigits {
		m.Type, m.DebugFile = ident.TypeELF, name
	}
	return m, nil
}

func isPDB(name string) bool { return strings.EqualFold(path.Ext(name), ".pdb") }

// explanation is the whole trail of one module, ready to be printed or sent.
type explanation struct {
	Asked   moduleText  `json:"asked"`
	Found   bool        `json:"found"`
	Verdict string      `json:"verdict"`
	Tried   []triedText `json:"tried"`
	Advice  []string    `json:"advice,omitempty"`
}

type moduleText struct {
	DebugFile string `json:"debug_file,omitempty"`
	DebugID   string `json:"debug_id,omitempty"`
	CodeFile  string `json:"code_file,omitempty"`
	CodeID    string `json:"code_id,omitempty"`
	FileID    string `json:"file_id,omitempty"`
	Derived   string `json:"derived,omitempty"`
}

type triedText struct {
	Source   string   `json:"source"`
	Kind     string   `json:"kind"`
	Location string   `json:"location"`
	Verdict  string   `json:"verdict"`
	Detail   string   `json:"detail,omitempty"`
	Status   int      `json:"status,omitempty"`
	Wire     int64    `json:"wire_bytes,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`
	Millis   int64    `json:"ms,omitempty"`
	Retries  int      `json:"retries,omitempty"`
	Cached   bool     `json:"cached"`
	Expires  string   `json:"expires,omitempty"`
	Features []string `json:"features,omitempty"`
	Chosen   bool     `json:"chosen"`
}

// explain makes the explanation of a lookup of m that ended with these.
func explain(q question, trail []locate.Tried, err error, now time.Time, sources int) *explanation {
	m := q.Module
	x := &explanation{Found: err == nil, Tried: []triedText{}}
	full := m.Derive()
	x.Asked = moduleText{DebugFile: full.DebugFile, CodeFile: full.CodeFile, CodeID: full.CodeID.String()}
	if !full.DebugID.IsZero() {
		x.Asked.DebugID = full.DebugID.Breakpad()
	}
	if !full.FileID.IsZero() {
		x.Asked.FileID = full.FileID.Base64()
	}
	if m.DebugID.IsZero() && !full.DebugID.IsZero() {
		x.Asked.Derived = "the debug id was computed from the code id"
	}
	tips := map[fault.Kind][]string{}
	for _, t := range trail {
		x.Tried = append(x.Tried, tell(t))
		if t.Fault != nil {
			if tip := adviceOn(t); !slices.Contains(tips[t.Fault.Kind], tip) {
				tips[t.Fault.Kind] = append(tips[t.Fault.Kind], tip)
			}
		}
	}
	if err == nil {
		for _, t := range x.Tried {
			if t.Chosen {
				x.Verdict = fmt.Sprintf("found in %s; %s", t.Source, chosenBecause[q.Purpose])
			}
		}
		return x
	}
	f := fault.Of(err)
	x.Verdict = f.Kind.String() + ": " + f.Detail
	needsBuildID := slices.ContainsFunc(trail, func(t locate.Tried) bool { return t.Fault != nil && errors.Is(t.Fault, source.ErrNoBuildID) })
	placed := slices.ContainsFunc(trail, func(t locate.Tried) bool { return t.Location != "" })
	switch {
	case needsBuildID:
		x.Advice = append(x.Advice, fmt.Sprintf(buildIDAdvice, full.DebugFile, x.Asked.DebugID))
	case !placed:
		x.Advice = append(x.Advice, missingAdvice(full, sources)...)
	}
	for _, k := range fault.Kinds() {
		switch {
		case k == fault.NotFound && !placed:
		case len(tips[k]) > 0 && k == fault.NotFound && !full.FileID.IsZero():
			x.Advice = append(x.Advice, notUploaded)
		default:
			x.Advice = append(x.Advice, tips[k]...)
		}
	}
	for _, t := range trail {
		if t.Cached && t.Fault != nil && t.Expires.After(now) {
			x.Advice = append(x.Advice, `A remembered verdict is used until it expires; "symbolon cache purge --faults" forgets them all now.`)
			break
		}
	}
	return x
}

// mapped adds what came of the question for a mapping of the lines of the file that
// was chosen.
func (x *explanation) mapped(trail []locate.Tried) {
	for _, t := range trail {
		x.Tried = append(x.Tried, tell(t))
		if t.Chosen {
			x.Verdict += "; lines of C# are told by the mapping in " + t.Source
		}
	}
}

// chosenBecause says how the winner was chosen.
var chosenBecause = map[locate.Purpose]string{
	locate.SymFirst: "it is the first usable file in the order of the sources",
	locate.Debug:    "of the files that have functions it comes first: companions before code before .sym, then in the order of the sources",
	locate.Symbols:  "of the files that have names it comes first: companions before code before .sym, then in the order of the sources",
	locate.Unwind:   "of the files that have unwind information it comes first: code before .sym before companions (of 32-bit Windows the PDB first), then in the order of the sources",
	locate.Sources:  "it is the first file with sources",
	locate.Pads:     "it is the first file with return pads",
}

// missingAdvice is for a module that no place was asked for.
func missingAdvice(m ident.Module, sources int) []string {
	switch {
	case sources == 0:
		return []string{"Name a source: --source mozilla, --source https://symbols.example.com/, or --source DIRECTORY."}
	case m.DebugID.IsZero() && m.CodeFile != "":
		return []string{"Symbol files are found by debug file name and debug id; a code id of a PE file does not lead to them. Look both up in the crash report or with a debugger. If the id is the build id of an ELF file, add --type elf."}
	}
	return []string{"No source was asked: the name or the id cannot be that of a symbol file, or the filters of the sources leave it out."}
}

const buildIDAdvice = `Name the build id too: symbolon explain %s/%s NAME/BUILDID. Requests to /symbolicate/v5 tell it as the third element of a module.`

const notUploaded = `Nothing was uploaded for a file with this id: send it with "symbolon push -e FILE". "symbolon fileid FILE" prints the id of the file that runs; stripping or signing changes it.`

// advice says what to do about each kind of failure.
var advice = map[fault.Kind]string{
	fault.NotFound:    "Not found: check the debug file name and the id letter for letter, and whether symbols of this very build were ever uploaded; or add a source that has them with --source.",
	fault.Denied:      "Denied: the server wants credentials, or others than were sent; check the source's headers in the configuration.",
	fault.Timeout:     "Timeout: the server is slow or the file is large; ask again, or raise the bound that was reached: network.connect_timeout, head_timeout, read_timeout or max_download_timeout.",
	fault.Transport:   "Transport: the way to the server is broken or it is overloaded; try its URL with curl from this machine, and ask again later.",
	fault.Malformed:   "Malformed: the server sent something that is not the wanted file. On an identity mismatch the file was stored under the wrong id: upload it again. If a page came (a login, an excuse), the address or the credentials of the source are wrong. If the file is damaged, make it anew with dump_syms.",
	fault.Unsupported: "Unsupported: the file is of a kind that is not read; convert it to a Breakpad .sym with dump_syms.",
	fault.Internal:    "Internal: this machine could not do the work, for the reason given: free disk space or memory, or report the mistake.",
}

// adviceOn returns the advice for an attempt that failed.
func adviceOn(t locate.Tried) string {
	inFolder := strings.HasPrefix(t.Location, "file:")
	switch {
	case errors.Is(t.Fault, bucket.ErrLink):
		return "Denied: a link leads out of the folder of the source. If nobody else can write to the folder, set follow_symlinks of the source in the configuration; or name the folder that the link leads to as a source."
	case t.Fault.Kind == fault.Denied && inFolder:
		return "Denied: the user that Symbolon runs as may not read the file; check its permissions, and those of its folders."
	case t.Fault.Kind == fault.Transport && inFolder:
		return "Transport: the folder of the source or its disk could not be read, for the reason given; check whether it is mounted."
	}
	return advice[t.Fault.Kind]
}

func tell(t locate.Tried) triedText {
	out := triedText{
		Source: t.Source, Kind: t.Kind, Location: t.Location, Verdict: "usable", Status: t.Attempt.Status,
		Wire: t.Attempt.Wire, Bytes: t.Attempt.Bytes, Millis: t.Attempt.Time.Milliseconds(), Retries: t.Attempt.Retries,
		Cached: t.Cached, Features: t.Features.Names(), Chosen: t.Chosen,
	}
	if t.Fault != nil {
		out.Verdict, out.Detail = t.Fault.Kind.String(), t.Fault.Detail
	}
	if !t.Expires.IsZero() {
		out.Expires = t.Expires.UTC().Format(time.RFC3339)
	}
	return out
}

func (x *explanation) print(w io.Writer) {
	line := func(label, value string) {
		if value != "" {
			say(w, "%-12s %s\n", label, printable(value))
		}
	}
	line("debug file", x.Asked.DebugFile)
	line("debug id", x.Asked.DebugID)
	line("code file", x.Asked.CodeFile)
	line("code id", x.Asked.CodeID)
	line("file id", x.Asked.FileID)
	line("derived", x.Asked.Derived)
	for i, t := range x.Tried {
		mark := " "
		if t.Chosen {
			mark = "*"
		}
		head := fmt.Sprintf("%s %d. %s  %s", mark, i+1, printable(t.Source), t.Kind)
		say(w, "\n%s\n", strings.TrimRight(head, " ")) // a source that was not asked has no kind
		if t.Location != "" {
			say(w, "     %s\n", printable(t.Location))
		}
		say(w, "     %s\n", printable(t.summary()))
	}
	say(w, "\n%s\n", printable(x.Verdict))
	for _, a := range x.Advice {
		say(w, "- %s\n", printable(a))
	}
}

// summary is one line about one candidate.
func (t *triedText) summary() string {
	var b strings.Builder
	b.WriteString(t.Verdict)
	if t.Detail != "" {
		b.WriteString(": " + t.Detail)
	}
	if t.Cached {
		b.WriteString("; remembered")
		if t.Expires != "" {
			b.WriteString(" until " + t.Expires)
		}
	}
	if t.Status != 0 {
		fmt.Fprintf(&b, "; HTTP %d", t.Status)
	}
	if t.Wire > 0 {
		fmt.Fprintf(&b, "; %s received", counted(t.Wire, "byte"))
	}
	if t.Bytes > 0 && t.Bytes != t.Wire {
		fmt.Fprintf(&b, ", %d decoded", t.Bytes)
	}
	if !t.Cached {
		fmt.Fprintf(&b, "; %d ms", t.Millis)
	}
	if t.Retries > 0 {
		fmt.Fprintf(&b, "; %s", counted(t.Retries, "retry"))
	}
	if len(t.Features) > 0 {
		b.WriteString("; has " + strings.Join(t.Features, ", "))
	}
	return b.String()
}
