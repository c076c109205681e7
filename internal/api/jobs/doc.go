// Package jobs runs requests whose answer a client may poll for. It is what the
// protocols share that have GET /requests/{id}.
//
// A job has a place from Begin until Finish or Drop: Config bounds how many jobs
// run, one scope may not have all places, and the requests of all jobs together
// may take MostWeight bytes. Run waits for the answer as long as the client wants
// to, then tells it the id of the job. The work goes on without the client once
// it knows the id; before that, it ends with the client.
//
// An answer whose id a client knows is kept for Config.Retention, in
// Config.Memory bytes: beyond that the oldest go first, those that were read or
// that the Store has before others. With a Store, any node over it answers for
// the jobs of all. An answer that was delivered by Run is not kept.
//
// Large answers are compressed while they are written, all of them from a common
// bound on. Jobs are safe for concurrent use; a Job belongs to one request.
package jobs
