// Package ingest is the store of uploaded symbols: it takes symbfiles in parts,
// verifies each while it comes in, and publishes a file once all of its parts are
// there.
//
// # Blobs
//
//	AB/CD/ID/ranges, AB/CD/ID/returnpads      what is published (source.ElasticPath)
//	incoming/ID/KIND/N/UPLOAD/K               part K of N that waits for the others
//	incoming/ID/KIND/N/UPLOAD/contested       when uploads met there that are not one
//	incoming/ID/KIND/N/UPLOAD/repeated        when a part came that is published already
//	incoming/ID/KIND/N/UPLOAD/anew            when such parts began to be held
//	known/2 CHARACTERS/REST                   which file another identity belongs to
//
// A published blob is a stream of zstd frames, one for each part and as it came, the
// decoded bytes of which are one valid symbfile: the magic and the header of all parts
// but the first are left out. Behind them is a skippable frame with an Info:
//
//	u32 0x184D2A50, u32 size; JSON; u32 size of the JSON     little endian
//
// A part that waits is a line of JSON (when it came, its sum, size and counts) and
// its frame. A mark is {"last": when, in milliseconds}. UPLOAD is "~" for those that
// do not tell, with the beginning of the SHA-256 of the client if that is known. A
// known identity is a build id, or the debug id that belongs to it in either order of
// bytes, as Breakpad writes it, in lower case; the blob is {"fileid": base64,
// "base": number}.
//
// # Parts
//
// A part that begins with the magic is verified by itself. One behind the first that
// does not is a raw continuation, and a first part that ends inside of a message has
// some: they are verified when all are there, as the one file that they are. What does
// not pass is removed then.
//
// Parts come in any order, to any process over the bucket, and repeatedly. Whoever
// stores the last one publishes, with one Put: old or new, never half. Two that
// publish at one time publish the same bytes; of two files, the one whose Put ends
// last stays. A part whose answer was lost may be sent again behind that: it is known
// from the Info.
//
// What the parts tell of the binary, its build id and its base, is in the Info, and
// so are the aliases. What they do not tell stays as it was told before, of either
// kind; the base only if the build id stays.
//
// # Uploads that meet
//
// Parts belong together if file, kind, number of parts and upload are the same. Of
// uploads that tell who they are, one publishes whole, then the other one does. Those
// that do not tell are told apart by their clients. Those of one client, or of one
// name, cannot be told apart until two parts for one place differ. Then all of them
// are refused, and what is held is void, until nothing has come for a minute. From
// then on parts are taken in order only, until a file is published or Config.Expiry
// has passed. Hence:
//
//   - Nothing is published from parts that were seen to differ.
//   - Uploads that each send their parts in order, within Config.Expiry, and begin
//     anew when one is refused, however they interleave, are never mixed, unless one
//     goes on that was not told that its parts are not held any more: since uploads
//     met, and a minute of silence passed; since they were published with another
//     upload that has them in common; or as they were taken for repetitions. Its next
//     part is taken if the upload that began meanwhile has come to the same place, or
//     is published. Then it waits, as one of those below.
//   - Uploads in other orders are mixed if, by chance, they fill all places before
//     the first two parts meet. No place tells such a file from a good one.
//   - A part of an upload is also one of another that is under way, if they have it
//     in common and cannot be told apart. When one is published, the other one waits
//     for it.
//
// # Repetitions
//
// A part that is published in its place already is a repetition, if its upload has
// the name of the published one, or neither has a name, their client is the same, and
// that was less than a minute ago; and if no other part is held close to it, nor have
// uploads met. Later than that it is held, and waits. Or it is one that a new upload
// has in common with the old one. So that is marked, and the first part that is to be
// held then is refused: all have to come again, and all are held. Hence, if nobody
// else uploads under its name, an upload all parts of which were taken is published.
// There is one exception, so that a repetition does not trouble the next upload: a
// part 0 that begins to come a minute behind the mark, or later, is not refused. An
// upload that has other parts in common, and sends them that long before part 0,
// waits for them.
//
// A part that expired, is void, or was left by a process that died after it had
// published, counts as absent, and is replaced. If two processes replace one at the
// same moment by parts that differ, the later one stays.
//
// # Limits
//
// A part has Config.MaxPart, a file Config.MaxFile decoded bytes; the limits of a
// strict symbfile.Reader hold, and what is decoded has at most 200 times the size of
// what was sent, past 64 MiB. While a part is received it is in a spool, compressed.
// Memory is that of a compressor and a Reader, which holds a message or two, whatever
// the size. A file has MaxParts parts; publishing reads each one's line, then its
// bytes, and holds a hundred bytes of each.
//
// Parts that wait in vain are removed by nobody here: by dir.Bucket.Sweep of the
// prefix Incoming in a folder, by a life cycle rule in an object store, both later
// than Config.Expiry.
//
// A Store is safe for concurrent use.
package ingest
