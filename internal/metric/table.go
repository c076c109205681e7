package metric

// declared holds the metrics in the order of their declaration below.
var declared = newRegistry()

// The metrics of the binary. Names get the prefix symbolon_.
var (
	BuildInfo = declared.gauge("build_info",
		"Always 1; the labels are the version of the binary and that of Go.", "version", "goversion")

	Requests = declared.counter("http_requests_total",
		"Requests answered.", "route", "code")
	RequestSeconds = declared.histogram("http_request_seconds",
		"Time from the first byte of a request to the last byte of its answer.", "route")
	InFlight = declared.gauge("http_in_flight",
		"Requests being answered.")
	Refused = declared.counter("http_refused_total",
		"Requests refused before work was done for them.", "reason")

	Frames = declared.counter("frames_total",
		"Frames looked up: named, unnamed (the module has symbols, the address has none) or nomodule.", "outcome")
	Modules = declared.counter("modules_total",
		"Modules looked up: found, missing or deadline (not ready in time for the answer).", "outcome")

	Downloads = declared.counter("downloads_total",
		"Files requested from a source, by outcome.", "source", "outcome")
	DownloadBytes = declared.counter("download_bytes_total",
		"Bytes received from a source, as they came over the wire.", "source")
	DownloadSeconds = declared.histogram("download_seconds",
		"Time of one download, with its retries.", "source")

	CacheLookups = declared.counter("cache_lookups_total",
		"Lookups in a cache tier, by kind of entry and outcome.", "tier", "kind", "outcome")
	CacheBytes = declared.gauge("cache_bytes",
		"Bytes held by a cache tier.", "tier")
	CacheEntries = declared.gauge("cache_entries",
		"Entries held by a cache tier.", "tier")
	CacheEvictions = declared.counter("cache_evictions_total",
		"Entries removed from a cache tier to make room.", "tier", "kind")

	StateUp = declared.gauge("state_up",
		"Whether the state, with uploads and tokens, can be read: 1, or 0 while its bucket or folder is unavailable.")

	CacheUp = declared.gauge("cache_up",
		"Whether a shared cache tier is in use: 1, or 0 while Symbolon backs off because it does not answer.", "tier")
	CacheFailures = declared.counter("cache_failures_total",
		"Requests to a shared cache tier that had no answer in time (silent) or were refused.", "tier", "reason")
	CacheDropped = declared.counter("cache_dropped_total",
		"Entries that were not copied to a shared cache tier because the queue was full.", "kind")

	Builds = declared.counter("table_builds_total",
		"Builds of lookup tables from debug files: built, found (built meanwhile for another name or by another node) or failed.", "outcome")
	BuildSeconds = declared.histogram("table_build_seconds",
		"Time to build one lookup table.")
	BuildBytes = declared.counter("table_build_input_bytes_total",
		"Bytes of the files that lookup tables were built from.")
	BadRecords = declared.counter("bad_records_total",
		"Records of debug files that were skipped because they are damaged.", "format")

	UploadParts = declared.counter("upload_parts_total",
		"Parts of uploaded symbols: taken, or the reason of the rejection (malformed, wrong kind, conflict, too large, truncated; failed is an internal error).", "kind", "outcome")
	UploadsPublished = declared.counter("uploads_published_total",
		"Files of uploaded symbols that were published.", "kind")

	OTLPLocations = declared.counter("otlp_locations_total",
		"Locations of OTLP profiles that were received without names: named, or missing in the answer.", "outcome")
	OTLPUntouched = declared.counter("otlp_untouched_total",
		"Requests with OTLP profiles that were forwarded unchanged because they could not be read.")
)

// bounds are the upper bounds of the buckets of all histograms, in seconds.
// One set serves them all: from a warm answer to a download of gigabytes.
var bounds = [...]float64{
	.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300,
}
