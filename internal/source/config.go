package source

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// The types of source that a Config may name.
const (
	HTTP       = "http"
	Filesystem = "filesystem"
	S3         = "s3"
	GCS        = "gcs"
	Sentry     = "sentry"
)

// Config describes one source, with the keys of Symbolicator's source objects.
type Config struct {
	ID                 string                `yaml:"id" json:"id" help:"Name of the source, for people and metrics."`
	Type               string                `yaml:"type" json:"type" help:"Type of the source: http, a symbol server; filesystem, a folder; s3, a bucket of S3 or of a store that speaks its protocol; gcs, a bucket of Google Cloud Storage; sentry, the debug files of a project of Sentry."`
	URL                URL                   `yaml:"url,omitempty" json:"url,omitzero" help:"Address of a symbol server; the paths of the layout follow it. It may have a user name and password. For type gcs, another address of the service; for type sentry, that of the debug files of the project."`
	Path               string                `yaml:"path,omitempty" json:"path,omitempty" help:"Folder, for type filesystem."`
	Bucket             string                `yaml:"bucket,omitempty" json:"bucket,omitempty" help:"Name of the bucket, for types s3 and gcs."`
	Prefix             string                `yaml:"prefix,omitempty" json:"prefix,omitempty" help:"Folder in the bucket; empty: the whole bucket."`
	Region             Region                `yaml:"region,omitempty" json:"region,omitempty" lone:"true" help:"Region of an s3 bucket, or a list of a region and the address of a store other than AWS, with the bucket in the path."`
	Provider           string                `yaml:"aws_credentials_provider,omitempty" json:"aws_credentials_provider,omitempty" help:"Source of the credentials for s3: static, the keys here; container, the agent of the container (ECS, EKS); instance, the metadata service of the machine; web_identity, a token in a file; ambient, what the AWS command line would use: variables, profiles (SSO, roles, processes), then those three."`
	AccessKey          bin.Secret            `yaml:"access_key,omitempty" json:"access_key,omitzero" help:"Access key for s3. Without one the bucket is read without credentials."`
	SecretKey          bin.Secret            `yaml:"secret_key,omitempty" json:"secret_key,omitzero" help:"Secret key for s3."`
	SessionToken       bin.Secret            `yaml:"session_token,omitempty" json:"session_token,omitzero" help:"Session token that belongs to the keys for s3, if they are temporary."`
	GoogleProvider     string                `yaml:"gcs_credentials_provider,omitempty" json:"gcs_credentials_provider,omitempty" help:"Source of the credentials for gcs: static, the keys here; ambient, the file that GOOGLE_APPLICATION_CREDENTIALS names, else a login with gcloud, else the metadata service of the machine."`
	ClientEmail        string                `yaml:"client_email,omitempty" json:"client_email,omitempty" help:"Service account for gcs. Without one the bucket is read without credentials."`
	PrivateKey         bin.Secret            `yaml:"private_key,omitempty" json:"private_key,omitzero" help:"Private key of the service account, in PEM."`
	BearerToken        bin.Secret            `yaml:"bearer_token,omitempty" json:"bearer_token,omitzero" help:"Token for gcs, instead of a service account."`
	Token              bin.Secret            `yaml:"token,omitempty" json:"token,omitzero" help:"Token for a project of Sentry."`
	Cookies            bin.Secret            `yaml:"cookies,omitempty" json:"cookies,omitzero" help:"Cookies for a project of Sentry, in the form of the header Cookie, instead of a token."`
	Headers            map[string]bin.Secret `yaml:"headers,omitempty" json:"headers,omitempty" help:"Headers of every request to the server. They are not sent to other servers after a redirect."`
	Layout             Layout                `yaml:"layout,omitempty" json:"layout,omitzero" help:"Paths of files under the address or folder."`
	HasIndex           bool                  `yaml:"has_index,omitempty" json:"has_index,omitempty" help:"The store, of layout symstore, lists its files in the folder 000Admin, and only those are requested. Other layouts have no index."`
	Timeout            time.Duration         `yaml:"timeout,omitempty" json:"-" help:"Time for a whole download from this source, with its retries, such as 30m for very large files; -1: no limit. Default: network.max_download_timeout. Not for folders."`
	FollowSymlinks     bool                  `yaml:"follow_symlinks,omitempty" json:"-" help:"Follow symbolic links that lead out of the folder, for type filesystem. Users who can write there can then make the server read any debug file of this machine. Links within the folder are always followed."`
	IsPublic           bool                  `yaml:"is_public,omitempty" json:"is_public,omitempty" help:"The source is public: its files are shared between scopes, and missing files are remembered for longer."`
	AcceptInvalidCerts bool                  `yaml:"accept_invalid_certs,omitempty" json:"accept_invalid_certs,omitempty" help:"Accept any certificate of the server. An attacker on the network can then send wrong files."`
	Filters            Filters               `yaml:"filters,omitempty" json:"filters,omitzero" help:"Limits the modules and files that the source is used for."`
}

// Layout is a rule for paths of files.
type Layout struct {
	Type   string `yaml:"type,omitempty" json:"type,omitempty" help:"Name of the layout: native, whose Breakpad paths are those of Mozilla's store; symstore, symstore_index2 (or index2), ssqp, debuginfod, unified, slashsymbols, or elastic, whose files are known by file ids. Default: native; for a folder also the layout that the folder has: .build-id, symstore, unified, or debug files side by side."`
	Casing string `yaml:"casing,omitempty" json:"casing,omitempty" help:"default keeps the case of the layout's paths, lowercase and uppercase change it."`
}

// Filters limit the files that a source is used for; an empty list does not limit.
type Filters struct {
	FileTypes        []string `yaml:"filetypes,omitempty" json:"filetypes,omitempty" help:"Kinds of file to request, such as breakpad."`
	RequiresChecksum bool     `yaml:"requires_checksum,omitempty" json:"requires_checksum,omitempty" help:"Use the source only for modules whose request has a checksum of the debug file, which the server requires."`
	PathPatterns     []string `yaml:"path_patterns,omitempty" json:"path_patterns,omitempty" help:"Patterns with * and ?, one of which must match the code file or the debug file of a module; case is ignored."`
}

// The kinds of file.
const (
	PE           = "pe"
	PDB          = "pdb"
	PortablePDB  = "portablepdb"
	MachDebug    = "mach_debug"
	MachCode     = "mach_code"
	ELFDebug     = "elf_debug"
	ELFCode      = "elf_code"
	WasmDebug    = "wasm_debug"
	WasmCode     = "wasm_code"
	Breakpad     = "breakpad"
	SourceBundle = "sourcebundle"
	UUIDMap      = "uuidmap"     // a plist that maps a UUID to a BCSymbolMap
	BCSymbolMap  = "bcsymbolmap" // the hidden names of Apple's bitcode
	IL2CPP       = "il2cpp"      // lines of C# for those of C++
	Symbfile     = "symbfile"    // functions and lines, for Elastic's profilers
	ReturnPads   = "returnpads"  // frames of return addresses, for Elastic's profilers

	// Files with a part of the debug information of an ELF file; filtered as elf_debug.
	DWZ = "dwz" // shared by several files
	DWP = "dwp" // of many units
	DWO = "dwo" // of one unit

	Beside = "elf_beside" // a companion next to where the Breakpad file would be; filtered as elf_debug
)

// fileTypes are the kinds of file that a filter may name.
var fileTypes = [...]string{
	PE, PDB, PortablePDB, MachDebug, MachCode, ELFDebug, ELFCode, WasmDebug, WasmCode,
	Breakpad, SourceBundle, UUIDMap, BCSymbolMap, IL2CPP, "proguard", Symbfile, ReturnPads,
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	switch {
	case c.Layout.Type == "" && c.Type != Filesystem: // the layout of a folder is detected
		c.Layout.Type = Native
	case c.Layout.Type == "index2":
		c.Layout.Type = TwoTiers
	}
	c.Layout.Casing = cmp.Or(c.Layout.Casing, Default)
	return c
}

// Validate returns an error for each invalid field of c, with the id of the source.
func (c Config) Validate() error {
	var errs []error
	for _, err := range c.Mistakes() {
		if c.ID != "" {
			err = fmt.Errorf("source %s: %w", quoted(c.ID), err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// quoted quotes an id for a message.
func quoted(id string) string {
	if len(id) > maxID {
		return fmt.Sprintf("%q…", id[:20])
	}
	return strconv.Quote(id)
}

// Mistakes returns an error for each invalid field of c.
func (c Config) Mistakes() []error {
	c = c.Defaults()
	var errs []error
	switch {
	case c.ID == "":
		errs = append(errs, errors.New("a source has no id"))
	case len(c.ID) > maxID:
		errs = append(errs, fmt.Errorf("its id has more than %d bytes", maxID))
	}
	return slices.Concat(errs, c.validLengths(), c.validPlace(), c.Layout.validate(), c.Filters.validate(), c.validHeaders())
}

// Limits of the sizes of a source. Addresses are stored with every file that was
// looked up.
const (
	maxID     = 256
	maxPlace  = 4 << 10
	maxConfig = 64 << 10 // all of it
)

func (c Config) validLengths() (errs []error) {
	for _, k := range []struct{ name, value string }{
		{"url", c.URL.Reveal()}, {"path", c.Path}, {"bucket", c.Bucket}, {"prefix", c.Prefix}, {"region", c.Region.Endpoint() + c.Region.Name()},
	} {
		if len(k.value) > maxPlace {
			errs = append(errs, fmt.Errorf("%s has more than %d bytes", k.name, maxPlace))
		}
	}
	all := len(c.PrivateKey.Reveal())
	for name, value := range c.Headers {
		all += len(name) + len(value.Reveal())
	}
	for _, text := range slices.Concat(c.Filters.PathPatterns, c.Filters.FileTypes) {
		all += len(text)
	}
	if all > maxConfig {
		errs = append(errs, fmt.Errorf("its keys, headers and filters have more than %d bytes", maxConfig))
	}
	return errs
}

func (l Layout) validate() (errs []error) {
	if l.Type != "" && !slices.ContainsFunc(layouts[:], func(known layout) bool { return known.name == l.Type }) {
		errs = append(errs, fmt.Errorf("invalid layout %q: must be one of %s", l.Type, strings.Join(Layouts(), ", ")))
	}
	if l.Casing != Default && l.Casing != Lowercase && l.Casing != Uppercase {
		errs = append(errs, fmt.Errorf("invalid casing %q: must be %s, %s or %s", l.Casing, Default, Lowercase, Uppercase))
	}
	return errs
}

func (f Filters) validate() (errs []error) {
	for _, name := range f.FileTypes {
		if !slices.Contains(fileTypes[:], name) {
			errs = append(errs, fmt.Errorf("invalid file type %q: must be one of %s", name, strings.Join(fileTypes[:], ", ")))
		}
	}
	for _, p := range f.PathPatterns {
		if _, err := path.Match(flat(p), ""); err != nil {
			errs = append(errs, fmt.Errorf("invalid path pattern %q", p))
		}
	}
	return errs
}

// connectionHeaders are the headers that depend on the connection or the request.
var connectionHeaders = [...]string{
	"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
	"proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
}

func (c Config) validHeaders() (errs []error) {
	for _, k := range []struct {
		name  string
		value bin.Secret
	}{{"token", c.Token}, {"cookies", c.Cookies}} {
		if strings.ContainsFunc(k.value.Reveal(), unicode.IsControl) {
			errs = append(errs, fmt.Errorf("%s has a control character", k.name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		switch {
		case name == "" || strings.ContainsFunc(name, notToken):
			errs = append(errs, fmt.Errorf("invalid header name %s", shownHeader(name)))
		case slices.Contains(connectionHeaders[:], strings.ToLower(name)):
			errs = append(errs, fmt.Errorf("header %s cannot be set", name))
		case strings.ContainsAny(c.Headers[name].Reveal(), "\r\n\x00"):
			errs = append(errs, fmt.Errorf("the value of header %s has a line break or a NUL", name))
		}
	}
	return errs
}

// shownHeader returns the name of a header for a message. The text after its
// first invalid character is left out: it may be the secret of a whole header.
func shownHeader(name string) string {
	if i := strings.IndexFunc(name, notToken); i >= 0 {
		_, size := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf("%q…", name[:i+size])
	}
	return strconv.Quote(name)
}

func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// DownloadTimeout returns the timeout of a whole download, by default limit. Zero
// means no limit.
func (c Config) DownloadTimeout(limit time.Duration) time.Duration {
	if c.Timeout != 0 {
		limit = c.Timeout
	}
	return max(limit, 0)
}

// Asks returns the part of c that decides which files are requested, as one text
// that differs for different parts.
func (c Config) Asks() string {
	f := c.Filters
	text := fmt.Sprintf("%q %v %q %q %v %q", c.ID, c.IsPublic, c.Layout, f.FileTypes, f.RequiresChecksum, f.PathPatterns)
	if c.indexed() {
		text += " indexed"
	}
	if c.FollowSymlinks {
		text += " symlinks"
	}
	return text
}

// indexed reports whether only files in the index of the source are requested.
func (c Config) indexed() bool { return c.HasIndex && c.Layout.Type == Symstore }

// Paths returns the paths of the file of a kind for m in the layout, or none if
// the filters exclude it.
func (c Config) Paths(m ident.Module, kind string) []string {
	if !c.Wants(m, kind) {
		return nil
	}
	return c.Layout.Paths(m, kind)
}

// ErrNoBuildID means that a source needs a build id to find the files of a module.
var ErrNoBuildID = errors.New("files of this source are found by build id, and the module has a debug id only, " +
	"which lacks the last 4 of the 20 bytes of most build ids")

// Unasked returns ErrNoBuildID as a fault if m would have a path in the source
// with a build id, or else nil.
func (c Config) Unasked(m ident.Module, kinds []string) error {
	if !m.LacksBuildID() {
		return nil
	}
	m.CodeID = "0000000000000000000000000000000000000000"
	if !slices.ContainsFunc(kinds, func(kind string) bool { return len(c.Paths(m, kind)) > 0 }) {
		return nil
	}
	return fault.New(fault.NotFound, "", "%w", ErrNoBuildID)
}

// Wants reports whether the filters admit a kind of file for m.
func (c Config) Wants(m ident.Module, kind string) bool {
	return c.Filters.admit(kind) && c.Filters.concern(m)
}

func (f Filters) admit(kind string) bool {
	switch kind {
	case Beside, DWZ, DWP, DWO:
		kind = ELFDebug
	}
	return len(f.FileTypes) == 0 || slices.Contains(f.FileTypes, kind)
}

func (f Filters) concern(m ident.Module) bool {
	return (!f.RequiresChecksum || m.DebugChecksum != "") &&
		(len(f.PathPatterns) == 0 || f.match(m.CodeFile) || f.match(m.DebugFile))
}

func (f Filters) match(file string) bool {
	if file == "" {
		return false
	}
	file = flat(file)
	return slices.ContainsFunc(f.PathPatterns, func(pattern string) bool {
		ok, err := path.Match(flat(pattern), file)
		return ok && err == nil
	})
}

// flat rewrites a path or pattern so that case is ignored, both slashes are the
// same, and the * of path.Match matches separators.
func flat(text string) string {
	return flattener.Replace(strings.ToLower(text))
}

var flattener = strings.NewReplacer(`\`, "\x01", "/", "\x01", "[!", "[^")
