package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/source"
)

// A configuration of Symbolicator is translated: each key that has a counterpart is
// renamed to it, and the result is read like a file of our own. The other keys are
// reported as notices.

// mapping is where the value of a key of Symbolicator goes.
type mapping struct {
	keys []string                             // ours; none: it has none
	turn func(n *node) (text string, ok bool) // ours for its value; nil: the same
	also map[string]string                    // further keys of ours and their values
	why  string                               // for a key without a counterpart
	part bool                                 // that key is a section: null is as if it were not there
}

// to maps a key to keys with the same value.
func to(keys ...string) mapping { return mapping{keys: keys} }

// lasting maps a key to keys with a duration as people write it; null is forever.
func lasting(keys ...string) mapping {
	return mapping{keys: keys, turn: func(n *node) (string, bool) {
		if n.kind == null {
			return "-1", true
		}
		d, ok := humanTime(n.text)
		return d.String(), ok
	}}
}

// remembered maps a key to keys with a lifetime: 0 is not at all, null forever.
func remembered(keys ...string) mapping {
	return mapping{keys: keys, turn: func(n *node) (string, bool) {
		if n.kind == null {
			return "36500d", true // longer than any disk
		}
		d, ok := humanTime(n.text)
		if d == 0 {
			return "-1", ok // 0 would be the default here
		}
		return d.String(), ok
	}}
}

// counted maps a key to keys with a number; null means unlimited.
func counted(keys ...string) mapping {
	return mapping{keys: keys, turn: func(n *node) (string, bool) {
		if n.kind == null {
			return "-1", true
		}
		return n.text, n.kind == textNode
	}}
}

// off maps a key to a value of ours that applies if Symbolicator's is false.
func off(key, value string) mapping {
	return mapping{keys: []string{key}, turn: func(n *node) (string, bool) {
		return map[string]string{"false": value}[n.text], n.text == "true" || n.text == "false"
	}}
}

func none(why string) mapping { return mapping{why: why} }

// without maps a section that has no counterpart.
func without(why string) mapping { return mapping{why: why, part: true} }

const (
	noNeed    = "is not needed"
	noStatsd  = "is not served: metrics are at /metrics, for Prometheus"
	noSentry  = "is not served: errors are in the log"
	fixed     = "has no counterpart: a stack has at most 256 frames"
	forgotten = "is not needed: crash files are not kept"
	inMemory  = "has no counterpart: memory is bounded by the key memory"
	renewed   = "is not needed: tables of other versions are never read, and are rebuilt one at a time"
	tableless = "has no counterpart: failures are remembered for files, not for tables"
	otherwise = "has no counterpart: unpacked data is bounded by network.max_download_ratio and by memory"
)

var symbolicator = map[string]mapping{
	"cache_dir":                                   to("data"),
	"bind":                                        to("http.listen"),
	"bind_https":                                  to("http.tls.address"),
	"server_config.https.certificate_path":        to("http.tls.certificate"),
	"server_config.https.key_path":                to("http.tls.key"),
	"logging.level":                               {keys: []string{"log.level"}, turn: words(map[string]string{"trace": "debug", "off": "error"})},
	"logging.format":                              {keys: []string{"log.format"}, turn: words(map[string]string{"auto": "text", "pretty": "text", "simplified": "text"})},
	"logging.enable_backtraces":                   none(noNeed),
	"metrics":                                     without(noStatsd),
	"sentry_dsn":                                  none(noSentry),
	"traces_sample_rate":                          none(noSentry),
	"transaction_sample_rate":                     none(noSentry),
	"propagate_traces":                            none(noSentry),
	"symstore_proxy":                              off("sentry.disable_proxy", "true"),
	"connect_to_reserved_ips":                     to("network.connect_to_reserved_ips"),
	"max_concurrent_requests":                     counted("sentry.max_concurrent_requests"),
	"connect_timeout":                             lasting("network.connect_timeout"),
	"head_timeout":                                lasting("network.head_timeout"),
	"max_download_timeout":                        lasting("network.max_download_timeout"),
	"max_download_size":                           to("network.max_download_size"),
	"symbolicate_body_max_bytes":                  to("sentry.max_body"),
	"crash_file_body_max_bytes":                   to("crash.max_dump"),
	"max_unwind_chain_len":                        none(fixed),
	"deny_list_enabled":                           off("network.deny_list_threshold", "-1"),
	"deny_list_time_window":                       lasting("network.deny_list_time_window"),
	"deny_list_bucket_size":                       none(noNeed),
	"deny_list_threshold":                         to("network.deny_list_threshold"),
	"deny_list_never_block_hosts":                 to("network.deny_list_never_block_hosts"),
	"deny_list_block_time":                        lasting("network.deny_list_block_time"),
	"_crash_db":                                   none(noNeed),
	"enable_cache_cleanup":                        none("is not needed: the cache enforces its limits itself"),
	"cache_cleanup_interval":                      none(noNeed),
	"object_file_max_decompressed_section_size":   none(otherwise),
	"object_file_max_decompressed_source_size":    none(otherwise),
	"caches.downloaded.max_unused_for":            lasting("cache.disk.objects_idle"),
	"caches.downloaded.retry_misses_after":        remembered("cache.lifetimes.not_found", "cache.lifetimes.denied", "cache.lifetimes.timeout", "cache.lifetimes.transport"),
	"caches.downloaded.retry_misses_after_public": remembered("cache.lifetimes.not_found_public"),
	"caches.downloaded.retry_malformed_after":     remembered("cache.lifetimes.malformed", "cache.lifetimes.unsupported"),
	"caches.downloaded.max_lazy_redownloads":      none(renewed),
	"caches.derived.max_unused_for":               lasting("cache.disk.symcache_idle", "cache.disk.meta_idle"),
	"caches.derived.retry_misses_after":           none(tableless),
	"caches.derived.retry_misses_after_public":    none(tableless),
	"caches.derived.retry_malformed_after":        none(tableless),
	"caches.derived.max_lazy_recomputations":      none(renewed),
	"caches.index":                                without("has no counterpart: an index is read again after a day"),
	"caches.diagnostics":                          without(forgotten),
	"caches.in_memory.sentry_index_ttl":           remembered("network.sentry_index_ttl"),
	"caches.in_memory.sentry_index_capacity":      none(inMemory),
	"caches.in_memory.gcs_token_capacity":         none(inMemory),
	"caches.in_memory.s3_client_capacity":         none(inMemory),
	"caches.in_memory.object_meta_capacity":       none(inMemory),
	"caches.in_memory.cficaches_capacity":         none(inMemory),
	"caches.in_memory.fileinbundle_capacity":      none(inMemory),
	"caches.in_memory.source_index_capacity":      none(inMemory),
	"shared_cache.filesystem.path":                to("cache.shared.path"),
	"shared_cache.gcs.bucket":                     {keys: []string{"cache.shared.bucket"}, also: map[string]string{"cache.shared.type": "gcs", "cache.shared.gcs_credentials_provider": "ambient"}},
	"shared_cache.gcs.service_account_path":       none("has no counterpart: name the file in GOOGLE_APPLICATION_CREDENTIALS"),
	"shared_cache.max_concurrent_uploads":         none(noNeed),
	"shared_cache.max_upload_queue_size":          none(noNeed),
}

// words turns words that are called otherwise here.
func words(other map[string]string) func(*node) (string, bool) {
	return func(n *node) (string, bool) {
		if text, ok := other[strings.ToLower(n.text)]; ok {
			return text, true
		}
		return strings.ToLower(n.text), n.kind == textNode
	}
}

// foreignFile reads a configuration of Symbolicator. It allows requests to name
// their sources, as Symbolicator does.
func (l *loader) foreignFile(v reflect.Value, o Options) error {
	if o.Symbolicator == nil {
		return nil
	}
	l.open(o.SymbolicatorFile)
	n, err := l.doc.parse(o.Symbolicator)
	if err != nil {
		return err
	}
	if n.kind != mapNode {
		return l.doc.wrong(n.place, "the file has no keys: must be a configuration of Symbolicator")
	}
	l.Notices = append(l.Notices, "sentry.allow_request_sources is on, as in Symbolicator: anyone who can reach this server can make it connect to any public server")
	l.put(v, "sentry.allow_request_sources", &node{kind: textNode, text: "true"})
	l.turn(v, "", n)
	return nil
}

// turn moves the keys of n, whose path in Symbolicator's file is given, to their places
// here.
func (l *loader) turn(v reflect.Value, path string, n *node) {
	for i, k := range n.keys {
		at, item := join(path, k.text), n.items[i]
		if at == "sources" {
			l.mistake(at, l.theirSources(v, item))
			continue
		}
		c, known := symbolicator[at]
		section := c.part || symbolicatorSection(at)
		switch {
		case section && item.kind == null: // the defaults
		case known && len(c.keys) > 0:
			err := l.turnKey(v, at, c, item)
			for _, ours := range c.keys {
				if err != nil {
					l.failed[ours] = true
				}
			}
			l.mistake(at, err)
		case section && item.kind != mapNode:
			l.mistake(at, l.doc.wrong(item.place, "%s is %s: must be a section", at, item.describe()))
		case section && !known:
			l.turn(v, at, item)
		case known:
			l.Notices = append(l.Notices, fmt.Sprintf("%s: %s %s", l.origin(k.place), at, c.why))
		default:
			l.Notices = append(l.Notices, fmt.Sprintf("%s: %s is not a known key of Symbolicator, and is left out", l.origin(k.place), shownKey(at)))
		}
	}
}

// symbolicatorSection reports whether there are known keys below a path.
func symbolicatorSection(path string) bool {
	for known := range symbolicator {
		if strings.HasPrefix(known, path+".") {
			return true
		}
	}
	return false
}

func (l *loader) turnKey(v reflect.Value, at string, c mapping, n *node) error {
	if c.turn != nil {
		text, err := n.text, error(nil)
		if n.kind == textNode {
			text, err = expand(n.text, l.variables)
		}
		turned, ok := c.turn(&node{kind: n.kind, text: text})
		if err != nil || !ok {
			return l.doc.wrong(n.place, "%s is %s, which Symbolicator does not accept", at, n.describe())
		}
		if turned == "" {
			return nil
		}
		n = &node{kind: textNode, text: turned, place: n.place}
	}
	for _, key := range c.keys {
		if err := l.put(v, key, n); err != nil {
			return err
		}
	}
	for key, text := range c.also {
		if err := l.put(v, key, &node{kind: textNode, text: text, place: n.place}); err != nil {
			return err
		}
	}
	return nil
}

// put sets one of our keys.
func (l *loader) put(v reflect.Value, key string, n *node) error {
	f := l.root
	for part := range strings.SplitSeq(key, ".") {
		f = f.find(part)
		v = v.Field(f.index)
	}
	return l.fill(f, v, key, n)
}

// theirSources sets our sources to those of Symbolicator's file, without the settings
// that Symbolicator ignores and that our sources do not have. Each omission and change is
// a notice.
func (l *loader) theirSources(v reflect.Value, n *node) error {
	const path = "sources"
	f := l.root.find(path)
	for _, item := range n.items {
		l.dropKeys(f, path, item)
	}
	if err := l.put(v, path, n); err != nil || n.kind == null {
		return err
	}
	list := v.Field(f.index).Interface().([]source.Config)
	taken := make(map[string]bool, len(list))
	for i := range list {
		taken[list[i].ID] = true
	}
	seen := make(map[string]bool, len(list))
	for i := range list {
		note := func(format string, args ...any) {
			at := fmt.Sprintf("%s: %s[%d]: ", l.origin(n.items[i].place), path, i)
			l.Notices = append(l.Notices, at+fmt.Sprintf(format, args...))
		}
		lenient, left := list[i].Lenient()
		for _, text := range left {
			note("%s, and is left out", text)
		}
		// Ids identify sources in tokens, answers and metrics.
		if id := lenient.ID; seen[id] && id != "" {
			for number := 2; taken[lenient.ID]; number++ {
				lenient.ID = fmt.Sprintf("%s-%d", id, number)
			}
			note("it has the id of an earlier one, %s, and is called %s here", shortQuote(id), shortQuote(lenient.ID))
		}
		taken[lenient.ID], seen[lenient.ID] = true, true
		list[i] = lenient
	}
	return nil
}

// dropKeys removes the keys that the section f does not have from n, with a
// notice for each, as Symbolicator ignores them.
func (l *loader) dropKeys(f *field, path string, n *node) {
	if n.kind != mapNode {
		return
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		k := n.keys[i]
		sub := f.find(k.text)
		switch {
		case sub == nil:
			l.Notices = append(l.Notices, fmt.Sprintf("%s: %s is not known here, and is left out", l.origin(k.place), shownKey(join(path, k.text))))
			n.keys, n.items = slices.Delete(n.keys, i, i+1), slices.Delete(n.items, i, i+1)
		case sub.shape == section:
			l.dropKeys(sub, join(path, k.text), n.items[i])
		}
	}
}

// humanUnits are the units of times in the way of people.
var humanUnits = map[string]time.Duration{
	"ns": 1, "nsec": 1, "nano": 1, "us": time.Microsecond, "µs": time.Microsecond, "usec": time.Microsecond,
	"ms": time.Millisecond, "msec": time.Millisecond, "milli": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": day, "day": day, "w": 7 * day, "wk": 7 * day, "week": 7 * day,
	"month": 2_630_016 * time.Second, "M": 2_630_016 * time.Second,
	"y": 31_557_600 * time.Second, "yr": 31_557_600 * time.Second, "year": 31_557_600 * time.Second,
}

// humanTime reads times such as "1h 30m", "1.5 hours", "2 days" and "0".
func humanTime(text string) (total time.Duration, ok bool) {
	rest := strings.TrimSpace(text)
	if rest == "0" {
		return 0, true
	}
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, false
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzMµ"))
		name := rest[:letters]
		unit, known := humanUnits[name]
		if !known {
			unit, known = humanUnits[strings.TrimSuffix(name, "s")]
		}
		n *= float64(unit)
		if !known || n > float64(1<<62-total) {
			return 0, false
		}
		total += time.Duration(math.Round(n))
		rest = strings.TrimLeft(rest[letters:], " ")
		ok = true
	}
	return total, ok
}
