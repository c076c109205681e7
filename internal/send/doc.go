// Package send uploads debug files: to a server, or into a store of this machine.
//
// Files looks for debug files in paths: files, folders (with dSYM bundles in them), and
// archives, as package archive reads them. Files that are something else are counted;
// debug files without an id are reported with the reason, because no lookup could ever
// find them.
//
// A Remote speaks the protocol of Sentry's clients: it asks which files the server
// has, sends the chunks that the server lacks, several at a time and compressed (with
// zstd if the server takes it, else with gzip), and has the files assembled. A server
// keeps the chunks of an upload that was interrupted for a day, so the same upload
// continues where it ended.
package send
