package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/send"
)

// The variables that the command upload reads.
const (
	uploadURLName   = "SYMBOLON_UPLOAD_URL"
	uploadTokenName = "SYMBOLON_UPLOAD_TOKEN"
)

// uploadFlags are the values of the flags.
type uploadFlags struct {
	conf     configFlags
	send     send.Config
	sources  string
	isWaited bool
	asJSON   bool
}

func uploadCommand(e *env) *cobra.Command {
	f := uploadFlags{send: send.Config{Project: ident.DefaultProject, Parallel: 4, RetryWait: time.Second, Labels: map[string]string{}}}
	c := &cobra.Command{
		Use: "upload PATH...", Short: "Upload debug files to a server, or into the store of this machine",
		Long: `PATH is a debug file, a folder, or an archive (zip, tar, cabinet, Debian package, RPM);
of folders and archives, all debug files are uploaded. Links in folders are not
followed. Files that the server has are not sent again, and an interrupted upload
continues where it ended. No lookup finds debug files without an id: they are not
uploaded, but listed with advice.

Without --url the files go to the server that runs on the data directory, or into
its store if no server runs.`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args) },
	}
	fs := c.Flags()
	f.conf.addBase(fs)
	fs.StringVarP(&f.send.URL, "url", "u", "", "`URL` of the server (default: the variable "+uploadURLName+")")
	fs.StringVarP(&f.send.Token, "token", "t", "",
		"`TOKEN` for the server, with the right upload (default: the variable "+uploadTokenName+", which other users of the machine cannot see)")
	fs.StringVar(&f.send.Project, "project", f.send.Project, "upload to the project `NAME`")
	fs.StringToStringVar(&f.send.Labels, "label", nil, "a label of the upload, `KEY=VALUE`, such as version=1.2; may be repeated")
	fs.Lookup("label").DefValue = "" // not "[]"
	fs.StringVar(&f.sources, "sources", "", "also upload a bundle with the sources of each file, looked up in the folder `DIR`")
	fs.BoolVar(&f.isWaited, "wait", false, "wait until the server has checked all files")
	fs.IntVar(&f.send.Parallel, "parallel", f.send.Parallel, "send up to `N` requests at the same time")
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON object per file")
	return c
}

func (f *uploadFlags) run(ctx context.Context, e *env, paths []string) error {
	if err := ident.CheckProject(f.send.Project); err != nil {
		return cli.Usage("--project: " + err.Error())
	}
	if f.send.Parallel < 1 {
		return cli.Usage("--parallel must be 1 or more")
	}
	f.send.URL = cmp.Or(f.send.URL, environment(e, uploadURLName))
	f.send.Token = strings.TrimSpace(cmp.Or(f.send.Token, environment(e, uploadTokenName)))
	if f.isWaited {
		f.send.Wait = time.Hour
	}
	limitHeap(commandMemory)
	if f.sources != "" {
		if info, err := os.Stat(f.sources); err != nil || !info.IsDir() {
			return cli.Usage(fmt.Sprintf("invalid --sources %q: must be a folder", f.sources))
		}
	}
	bar := e.progress("uploading", "")
	defer bar.Close()
	out := send.NewReport(e.stdout, e.stderr, bar, f.asJSON)
	if f.send.URL != "" {
		return f.uploadTo(ctx, out, paths)
	}
	cfg, log, err := f.conf.load(e)
	if err != nil {
		return err
	}
	r, data, err := node.Dial(ctx, cfg.Data)
	if err != nil {
		return err
	}
	if r != nil {
		defer r.Close()
		f.send.URL, f.send.Transport = r.Uploads()
		f.send.Token, f.send.Wait = "", time.Hour
		return f.uploadTo(ctx, out, paths)
	}
	s, closeStore, err := node.OpenStore(cfg, log)
	if err != nil {
		return err
	}
	defer closeStore()
	say(e.stderr, "symbolon: no server is running on %s, so the files are added to its store; to upload to a server elsewhere, use -u URL\n", data)
	l := send.NewLocal(s, f.send)
	defer l.Close()
	l.Done = out.Done
	return f.upload(ctx, l, out, paths)
}

// uploadTo uploads to the server at f.send.URL.
func (f *uploadFlags) uploadTo(ctx context.Context, out *send.Report, paths []string) error {
	r, err := send.NewRemote(f.send)
	if err != nil {
		return cli.Usage(err.Error())
	}
	r.Done, r.Progress, r.Retrying = out.Done, out.Progress, out.Retrying
	return f.upload(ctx, r, out, paths)
}

func (f *uploadFlags) upload(ctx context.Context, to send.Target, out *send.Report, paths []string) error {
	skipped, err := send.Upload(ctx, to, paths, f.sources, out.Failed)
	if err == nil {
		err = out.End(skipped)
	}
	if errors.Is(err, send.ErrFailed) {
		return errReported
	}
	return err
}
