package source

import "symbolon/internal/bin"

// Preset is a well-known source with a short name.
type Preset struct {
	Name  string
	URL   string
	About string

	layout  string // empty: native
	filters Filters
	agent   string // the User-Agent that the server requires
	index   bool
}

var windows = Filters{FileTypes: []string{PE, PDB}}

// Presets returns the presets. All of them are public.
func Presets() []Preset {
	return []Preset{
		{
			Name: "mozilla", URL: "https://symbols.mozilla.org/try/", filters: Filters{FileTypes: []string{Breakpad, PDB, PE, ELFDebug}},
			About: "Mozilla: Firefox and Thunderbird, release and nightly builds, then try builds",
		},
		{
			Name: "microsoft", URL: "https://msdl.microsoft.com/download/symbols/", layout: Symstore,
			filters: Filters{FileTypes: []string{PE, PDB, PortablePDB}}, About: "Microsoft: Windows, Office, Visual Studio, .NET",
		},
		{
			Name: "nuget", URL: "https://symbols.nuget.org/download/symbols/", layout: Symstore,
			filters: Filters{FileTypes: []string{PortablePDB}, RequiresChecksum: true},
			About:   "NuGet: portable PDBs of packages, for requests that have the checksum",
		},
		{Name: "citrix", URL: "http://ctxsym.citrix.com/symbols/", layout: Symstore, filters: windows, About: "Citrix, for Windows"},
		{
			Name: "intel", URL: "https://software.intel.com/sites/downloads/symbols/", layout: Symstore, filters: windows,
			agent: "curl/7.72.0", index: true, About: "Intel: graphics drivers for Windows",
		},
		{Name: "amd", URL: "https://download.amd.com/dir/bin/", layout: Symstore, filters: windows, About: "AMD: graphics drivers for Windows"},
		{Name: "nvidia", URL: "https://driver-symbols.nvidia.com/", layout: Symstore, filters: windows, About: "NVIDIA: graphics drivers for Windows"},
		{
			Name: "chromium", URL: "https://chromium-browser-symsrv.commondatastorage.googleapis.com/", layout: Symstore, filters: windows,
			About: "Chrome and Chromium, for Windows",
		},
		{Name: "unity", URL: "http://symbolserver.unity3d.com/", layout: Symstore, filters: windows, About: "Unity: players and editor, for Windows"},
		{Name: "autodesk", URL: "http://symbols.autodesk.com/", layout: Symstore, About: "Autodesk"},
		{
			Name: "electron", URL: "https://symbols.electronjs.org/",
			filters: Filters{
				FileTypes:    []string{PDB, Breakpad, SourceBundle},
				PathPatterns: []string{"*electron*", "*ffmpeg*", "*libEGL*", "*libGLESv2*", "*node*", "*slack*", "*vk_swiftshader*"},
			},
			About: "Electron, and the parts of applications built on it",
		},
		{
			Name: "ubuntu", URL: "https://debuginfod.ubuntu.com/buildid/", layout: Debuginfod,
			filters: Filters{FileTypes: []string{ELFCode, ELFDebug}}, About: "Ubuntu",
		},
		{
			Name: "debuginfod", URL: "https://debuginfod.elfutils.org/buildid/", layout: Debuginfod,
			filters: Filters{FileTypes: []string{ELFCode, ELFDebug}}, About: "elfutils' debuginfod, which asks the servers of many distributions",
		},
	}
}

// config returns the source of a preset.
func (p Preset) config() Config {
	c := Config{
		ID: p.Name, Type: HTTP, URL: NewURL(p.URL), IsPublic: true,
		Layout: Layout{Type: p.layout}, Filters: p.filters, HasIndex: p.index,
	}
	if p.agent != "" {
		c.Headers = map[string]bin.Secret{"User-Agent": bin.NewSecret(p.agent)}
	}
	return c
}
