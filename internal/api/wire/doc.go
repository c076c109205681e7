// Package wire decodes requests of Symbolicator's protocol.
//
// Decode reads the body of a request once, without keeping it: a Request has one
// list of frames for all stack traces, and a frame with rare fields has a record of
// them. A body that does not fit is an api.Refusal, with the status and the text for the
// client.
package wire
