package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
)

// chosenBecause has the rule that chooses the file for a purpose.
var chosenBecause = map[locate.Purpose]string{
	locate.SymFirst: "it is the first usable file in the order of the sources",
	locate.Debug:    "of the files that have functions it comes first: companions before code before .sym, then in the order of the sources",
	locate.Symbols:  "of the files that have names it comes first: companions before code before .sym, then in the order of the sources",
	locate.Unwind: "of the files that have unwind information it comes first: code before companions before .sym " +
		"(of 32-bit Windows the PDB first), then in the order of the sources",
	locate.Sources: "it is the first file with sources",
	locate.Pads:    "it is the first file with return pads",
}

const (
	nameSource = "Upload the file: symbolon upload FILE; " +
		"or name a source: --source mozilla, --source https://symbols.example.com/, or --source DIRECTORY."
	nameBoth = "Symbol files are found by debug file name and debug id, not by the code id of a PE file. " +
		"Look both up in the crash report or with a debugger. If the id is the build id of an ELF file, add --type elf."
	checkModule = "No source was asked: the name or the id cannot be that of a symbol file, or the filters of the sources exclude it."
	nameBuildID = `Name the build id too: symbolon explain %s/%s NAME/BUILDID. ` +
		`Requests to /symbolicate/v5 send it as the third element of a module.`
	uploadFile = `Nothing was uploaded for a file with this id: send it with "symbolon push -e FILE". ` +
		`"symbolon fileid FILE" prints the id of the file that runs; stripping or signing changes it.`
	purgeFaults = `A remembered verdict is used until it expires; "symbolon cache purge --faults" removes all of them now.`
)

// adviceByKind has the advice for a failure of each kind.
var adviceByKind = map[fault.Kind]string{
	fault.NotFound: "Not found: check the debug file name and the id letter for letter, " +
		"and whether symbols of this very build were ever uploaded; " +
		"upload them with symbolon upload, or add a source that has them with --source.",
	fault.Denied: "Denied: the server requires credentials, or other ones; check the headers of the source in the configuration.",
	fault.Timeout: "Timeout: the server is slow or the file is large; try again, or raise the limit that was reached: " +
		"network.connect_timeout, head_timeout, read_timeout or max_download_timeout.",
	fault.Transport: "Transport: the server cannot be reached or is overloaded; try its URL with curl from this machine, and again later.",
	fault.Malformed: "Malformed: the server sent something other than the requested file. " +
		"On an identity mismatch the file was stored under the wrong id: upload it again. " +
		"If it is a page (a login, an error), the address or the credentials of the source are wrong. " +
		"If the file is damaged, write it again with dump_syms. If it is larger than the limit, raise network.max_download_size.",
	fault.Unsupported: "Unsupported: files of this kind cannot be read; convert it to a Breakpad .sym with dump_syms.",
	fault.Internal: "Internal: this machine could not do the work, for the reason given: " +
		"free disk space or memory, or report the error.",
}

// Advice on failures in folders and buckets.
const (
	followLinks = "Denied: a link leads out of the folder of the source. If only you can write to the folder, " +
		"set follow_symlinks of the source in the configuration; or name the folder that the link leads to as a source."
	checkPermissions = "Denied: the user of this process may not read the file; check the permissions of the file and of its folders."
	checkKeys        = "Denied: the store refuses the credentials; check the keys, bucket, region and address of the source in the configuration."
	checkBucket      = "Not found: the store does not have the bucket; check the bucket, region and address of the source in the configuration."
	checkMount       = "Transport: the folder of the source or its disk could not be read, for the reason given; check whether it is mounted."
)

// advise returns the advice for the lookup of m, which failed.
func advise(m ident.Module, tried []locate.Tried, now time.Time, sources int) (advice []string) {
	byKind := map[fault.Kind][]string{}
	needsBuildID, hasLocation, hasCached := false, false, false
	for _, c := range tried {
		hasLocation = hasLocation || c.Location != ""
		if c.Fault == nil {
			continue
		}
		needsBuildID = needsBuildID || errors.Is(c.Fault, source.ErrNoBuildID)
		hasCached = hasCached || c.Cached && c.Expires.After(now)
		if text := adviceOn(c); !slices.Contains(byKind[c.Fault.Kind], text) {
			byKind[c.Fault.Kind] = append(byKind[c.Fault.Kind], text)
		}
	}
	if len(byKind[fault.NotFound]) > 0 && !m.FileID.IsZero() {
		byKind[fault.NotFound] = []string{uploadFile}
	}
	switch {
	case needsBuildID:
		advice = append(advice, fmt.Sprintf(nameBuildID, m.DebugFile, m.DebugID.Breakpad()))
	case !hasLocation:
		advice = append(advice, adviceWithoutCandidates(m, sources))
	}
	if !hasLocation {
		delete(byKind, fault.NotFound)
	}
	for _, k := range fault.Kinds() {
		advice = append(advice, byKind[k]...)
	}
	if hasCached {
		advice = append(advice, purgeFaults)
	}
	return advice
}

// adviceWithoutCandidates returns the advice for a module for which no source was asked.
func adviceWithoutCandidates(m ident.Module, sources int) string {
	switch {
	case sources == 0:
		return nameSource
	case m.DebugID.IsZero() && m.CodeFile != "":
		return nameBoth
	}
	return checkModule
}

// adviceOn returns the advice for a candidate that failed.
func adviceOn(c locate.Tried) string {
	inFolder := strings.HasPrefix(c.Location, "file:")
	switch {
	case errors.Is(c.Fault, bucket.ErrLink):
		return followLinks
	case c.Fault.Kind == fault.Denied && inFolder:
		return checkPermissions
	case c.Fault.Kind == fault.Denied && (strings.HasPrefix(c.Location, "s3:") || strings.HasPrefix(c.Location, "gs:")):
		return checkKeys
	case c.Fault.Kind == fault.NotFound && strings.HasPrefix(c.Fault.Detail, bucket.ErrNoBucket.Error()):
		return checkBucket
	case c.Fault.Kind == fault.Transport && inFolder:
		return checkMount
	}
	return adviceByKind[c.Fault.Kind]
}
