// Package applecrash reads crash reports of macOS, iOS and their relatives: the
// text of ReportCrash in all its versions, and the JSON that followed it (.ips).
//
// An .ips file begins with a line of JSON that describes the report. The report
// itself is a second JSON object or, before iOS 15, a text. Either may also come
// without that line. There is no specification; the facts are from reports and
// from symbolizers that read them.
//
// # Text
//
// Lines begin sections or belong to the section before them; other lines of the
// form "key: value" are Metadata, the first one of a key.
//
//	Thread 1 name:  worker  Dispatch queue: com.example.q    also after "Thread 1:"
//	Thread 1 Crashed:
//	0   Quince   0x0000000100002000 fall (in Quince) (fall.mm:77)
//	1   ???      0x0000000000000042 0x0 + 66                 without module and symbol
//	Thread 1 crashed with X86 Thread State (64-bit):
//	  rip: 0x0000000100002000  rfl: 0x0000000000010206
//	Binary Images:
//	   0x100000000 - 0x100007fff +Quince x86_64  (1.2.3 - 45) <UUID> /Applications/Quince
//
// Newer texts have images without an architecture. The addresses of an image
// include that of its last byte; its Size is the difference, one less than the
// size in an .ips, as Symbolicator reports it.
//
// # JSON
//
// Metadata has the keys of the text. Images without a base and a name, to which
// frames without a module refer, are not listed. The number of a thread is its
// place in the list, as in texts.
//
// # Errors and limits
//
// An incident identifier or version that cannot be parsed makes the report
// invalid, as do JSON that ends early and JSON without images. A time
// and the UUID of an image are skipped then, as is a JSON value of another type
// than usual. A text without any known line is an empty Report; bytes that are
// not a text, such as an archive or UTF-16, are invalid.
//
// A report has at most MaxSize bytes, and half a million lines or JSON values,
// which take up to 250 MB. A Report does not change, and is safe for concurrent
// use.
package applecrash
