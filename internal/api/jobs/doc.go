// Package jobs runs requests whose client may poll for the answer, with
// GET /requests/{id}.
//
// A job has a place from Begin to Finish or Drop. Config limits the number of running
// jobs (one scope may have seven eighths of them), and MostWeight the bytes of their
// requests. Run sends the answer if the client waits for it, else the id of the job. Once
// the client has the id, the work continues without it; before that, the work ends when
// the client disconnects.
//
// An answer is kept, compressed, if a client has the id: for Config.Retention, and in
// Config.Memory bytes. Beyond these limits the oldest answers are removed, first those
// that were read or that the Store has. With a Store, every node has the answers of all
// nodes.
//
// Jobs is safe for concurrent use. A Job is used by the goroutines of its request.
package jobs
