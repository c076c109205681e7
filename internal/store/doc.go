// Package store keeps debug files that clients uploaded, and finds them by their
// identifiers. All of its state is in a bucket, which several processes may use at the
// same time.
//
// A Draft receives the files of one upload. Commit makes all of them visible in one step.
// A file belongs to the project of its upload: no call for other projects finds it, or
// reports that its bytes are stored. Identifiers are parsed from the bytes; names are
// claimed by clients, and are not enough to find a file.
//
// # Keys
//
// SHA is a SHA-256 in hex, xx its first two digits, and xxx the first three of an
// identifier. T and U are the name of an upload: U is its time, counted down, so that
// keys are listed newest first, and 55 random bits; T is the first four digits of U.
//
//	blob/xx/SHA.N                         copy N of the bytes of a file (package blob)
//	file/xx/SHA.V                         the Record of a file, by version V of the readers
//	id/xxx/ID.PROJECT.U.SHA.N.AT          empty: an upload has a file with this identifier
//	upload/PROJECT/T/U                    the Upload, and in line AT the file; written last
//	gone/PROJECT.U                        the upload is deleted
//	dead/xx/SHA.N                         no upload may begin to rely on copy N
//	change/N                              the Nth accepted or deleted upload, or symbfile
//	keep/PROJECT.U/N                      version N of the time until which an upload is kept
//	project/NAME/N                        version N of the settings of a project
//	chunk/DAY/HOLDER/xx/SHA1              a piece of a file that is uploaded in pieces
//
// ID is d and the UUID of a debug id, c and up to 64 digits of a code id, s and the SHA-1
// of the file, or f and a file id of profilers. AT is an offset in the record, so reading
// one line shows that the upload exists, and its claims about the file. Folders of the
// bucket stay small enough to be listed quickly: 4,000 keys in a store of 1,000,000
// files.
//
// # Order
//
// Keys are created once and never rewritten. Bytes, records of files and identifiers are
// written first, the record of the upload last, once they are durable. A reader uses an
// identifier only if its upload exists and is not deleted.
//
// An upload relies on copies without a mark in dead, and writes its record within an hour
// of looking for marks; if that took longer, it looks again and replaces marked copies
// and the record. A copy is marked, and removed a day later at the earliest, if then
// neither the record of an upload that is not deleted names it, nor an identifier of an
// upload whose record is lost or damaged.
//
// On a full disk a failed upload marks and removes the copies that it stored at once,
// unless there is an entry of the file. So after writing its record, an upload looks once
// more for marks of copies that it did not store.
//
// A Store is safe for concurrent use.
package store
