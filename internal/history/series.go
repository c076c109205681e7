package history

import (
	"strings"

	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

// The series of the process.
const (
	Requests       = "requests"
	FramesNamed    = "frames named"
	FramesUnnamed  = "frames unnamed"
	FramesNoModule = "frames without module"
	Memory         = "memory" // resident bytes
)

// The figures of a tier, for Tier. Bytes is also one of a source.
const (
	Lookups   = "lookups"
	Hits      = "hits"
	Bytes     = "bytes"
	Evictions = "evictions"
)

// Seconds is the figure of a source with the time that downloads took.
const Seconds = "seconds"

// MaxSources is the largest number of sources with series.
const MaxSources = 32

// Tiers returns the labels of the tiers of the cache in the metrics.
func Tiers() []string { return []string{"memory", "disk", "redis", "shared"} }

// Outcomes returns the outcomes of downloads, "ok" first.
func Outcomes() []string {
	list := []string{"ok"}
	for _, k := range fault.Kinds() {
		list = append(list, strings.ReplaceAll(k.String(), " ", "_"))
	}
	return list
}

// Tier returns the name of the series with a figure of a tier.
func Tier(tier, figure string) string { return "cache " + tier + " " + figure }

// Source returns the name of the series of downloads from a source with an outcome, or of
// Bytes or Seconds.
func Source(id, figure string) string { return "source " + id + " " + figure }

// OfProcess returns the series of this process, with those of the first 32 of the sources.
func OfProcess(sources []string) []Series {
	counter := func(name string, c *metric.Counter, labels ...string) Series {
		return Series{Name: name, Read: func() float64 { return float64(c.Sum(labels...)) }}
	}
	list := []Series{
		counter(Requests, metric.Requests, "", ""),
		counter(FramesNamed, metric.Frames, "named"),
		counter(FramesUnnamed, metric.Frames, "unnamed"),
		counter(FramesNoModule, metric.Frames, "nomodule"),
		{Name: Memory, Read: metric.Memory(), Gauge: true},
	}
	for _, tier := range Tiers() {
		list = append(list,
			counter(Tier(tier, Lookups), metric.CacheLookups, tier, "", ""),
			counter(Tier(tier, Hits), metric.CacheLookups, tier, "", "hit"),
			counter(Tier(tier, Evictions), metric.CacheEvictions, tier, ""),
			Series{Name: Tier(tier, Bytes), Read: func() float64 { return float64(metric.CacheBytes.Sum(tier)) }, Gauge: true})
	}
	for _, id := range sources[:min(len(sources), MaxSources)] {
		for _, outcome := range Outcomes() {
			list = append(list, counter(Source(id, outcome), metric.Downloads, id, outcome))
		}
		list = append(list, counter(Source(id, Bytes), metric.DownloadBytes, id),
			Series{Name: Source(id, Seconds), Read: func() float64 { return metric.DownloadSeconds.Seconds(id) }})
	}
	return list
}
