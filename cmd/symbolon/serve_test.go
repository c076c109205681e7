package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"symbolon/internal/waittest"
)

// await FILE waits until a server in the background has written its first line
// to FILE, and sets URL to its address.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	line := regexp.MustCompile(`^listening on (https?://\S+)\n`)
	var m [][]byte
	if !waittest.Becomes(func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		m = line.FindSubmatch(text)
		return err == nil && m != nil
	}) {
		ts.Fatalf("no server wrote its address to %s", args[0])
	}
	ts.Setenv("URL", string(m[1]))
}

// end FILE ends the server whose process id is in FILE, and waits for it. It does not wait
// until its parent, init, has seen the end, which takes seconds in some containers.
func end(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: end FILE")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Signal(syscall.SIGTERM))
	if !waittest.Becomes(func() bool {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // other systems have none
		return bytes.Contains(state, []byte(") Z ")) || p.Signal(syscall.Signal(0)) != nil
	}) {
		ts.Fatalf("the server %d did not end", pid)
	}
}

// fetch URL [BODY] prints the status and the body of an answer to stdout; with
// a body the request is a POST. Any certificate is accepted.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: fetch URL [BODY]")
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	var resp *http.Response
	var err error
	if len(args) == 2 {
		resp, err = client.Post(args[0], "application/json", strings.NewReader(args[1]))
	} else {
		resp, err = client.Get(args[0])
	}
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), resp.Status+"\n"+string(body)+"\n")
	ts.Check(err)
}
