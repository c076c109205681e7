package explain

import (
	"errors"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

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
