package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/token"
)

func tokenCommand(e *env) *cobra.Command {
	c := cli.Group("token", "Add, list and remove the tokens of clients", tokenAddCommand(e), tokenListCommand(e), tokenRemoveCommand(e))
	c.Aliases = []string{"key"}
	return c
}

func runToken(ctx context.Context, e *env, conf *configFlags, q node.TokenQuery) error {
	return conf.operate(ctx, e, func(op operator) error {
		q.Look = e.look()
		return op.Token(ctx, q, e.stdout)
	})
}

func tokenAddCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.TokenQuery{Verb: "add", Org: "symbolon"}
	g := &q.Token.Grant
	c := &cobra.Command{
		Use: "add", Short: "Add a token and print it",
		Long: `Clients send the token as it is printed: in the header Authorization: Bearer TOKEN,
Authorization: ApiKey TOKEN or Auth-Token: TOKEN, as the password of any user, or in
front of a path, /t/TOKEN/…. Only a hash is stored, so a token cannot be printed again.
Without --right the token allows uploading and reading, without --project it is valid
for the project default.

"key" is another name of "token".`,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, name := range g.Projects {
				if err := ident.CheckProject(name); err != nil && name != token.Any {
					return cli.Usage("--project: " + err.Error())
				}
			}
			return runToken(c.Context(), e, &conf, q)
		},
	}
	fs := c.Flags()
	conf.addBase(fs)
	addRight := func(text string) error {
		if !slices.Contains(token.Rights(), token.Right(text)) {
			return errors.New("must be read, symbolicate, upload, upload-try, delete or admin")
		}
		g.Rights = append(g.Rights, token.Right(text))
		return nil
	}
	fs.StringVar(&g.Name, "name", "", "a `TEXT` for people: the purpose of the token")
	fs.Func("right", "a `RIGHT`: read, symbolicate, upload, upload-try, delete or admin; may be repeated", addRight)
	fs.StringArrayVar(&g.Projects, "project", nil, "a `PROJECT` that the rights apply to, * for all; may be repeated")
	fs.StringToStringVar(&g.Labels, "label", nil, "a label that all uploads get, `NAME=VALUE`; may be repeated")
	fs.Lookup("label").DefValue = "" // not "[]"
	fs.Func("expires", "the `TIME` after which the token is refused, such as 90d or 12h", func(text string) error {
		life, err := cli.ParseTime(text)
		q.Token.Expires = time.Now().Add(life).UTC().Truncate(time.Second)
		return err
	})
	fs.StringArrayVar(&g.Sources, "allow-source", nil,
		"allow the configured source `ID`, * for all; may be repeated; default: the sources that clients without a token may use")
	fs.StringVar(&q.URL, "sentry-url", "", "print the token in a form that also tells sentry-cli the `URL` of this server")
	fs.StringVar(&q.Org, "sentry-org", q.Org, "the `NAME` of the organization in that form")
	fs.BoolFunc("read", "the same as --right read; once such a token exists for the project default, reading default needs a token",
		func(string) error { return addRight(string(token.Read)) })
	fs.BoolVar(&q.JSON, "json", false, "print JSON")
	return c
}

func tokenListCommand(e *env) *cobra.Command {
	var conf configFlags
	q := node.TokenQuery{Verb: "ls"}
	c := &cobra.Command{
		Use: "ls", Short: "List the tokens",
		Long: `Prints the id, rights, projects, time of creation, expiry and name of each token.
Tokens in the configuration are not listed.`,
		RunE: func(c *cobra.Command, _ []string) error { return runToken(c.Context(), e, &conf, q) },
	}
	conf.addBase(c.Flags())
	c.Flags().BoolVar(&q.JSON, "json", false, "print one JSON object per line")
	return c
}

func tokenRemoveCommand(e *env) *cobra.Command {
	var conf configFlags
	c := &cobra.Command{
		Use: "rm ID", Short: "Remove a token by its id, which \"token ls\" prints",
		Long: "All nodes of the store refuse the token within 15 seconds.",
		RunE: func(c *cobra.Command, args []string) error {
			return runToken(c.Context(), e, &conf, node.TokenQuery{Verb: "rm", ID: args[0]})
		},
	}
	conf.addBase(c.Flags())
	return c
}
