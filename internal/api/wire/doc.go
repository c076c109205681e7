// Package wire decodes requests of Symbolicator's protocol.
//
// Decode reads the body of a request once, without keeping it: a Request has one list of
// frames for all stack traces, and the rare fields of a frame are in a separate record. A
// body that does not fit is an api.Refusal, with the status and the text for the client.
package wire
