// Package metric declares every metric of the binary, in one table (table.go),
// and serves them to Prometheus. The reference page is generated from the same
// table. The metrics of the Go runtime and of the process, go_ and process_, are
// those of client_golang.
//
// Metrics are package-level values on purpose: they are the only state of the process
// without an owner. Everything is safe for concurrent use. Adding to a series that exists
// takes no lock and does not allocate.
//
// Label values must come from small sets. A metric keeps at most maxSeries combinations;
// further ones are summed under the label values "other". Giving a metric another number
// of label values than it has labels is a mistake of the program and panics.
package metric
