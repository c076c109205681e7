package main

import (
	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/node"
)

func projectCommand(e *env) *cobra.Command {
	return cli.Group("project", "List projects, and make them public or private", projectListCommand(e), projectSetCommand(e))
}

func runProject(c *cobra.Command, e *env, conf *configFlags, q node.ProjectQuery) error {
	return conf.operate(c.Context(), e, func(op operator) error {
		q.Look = e.look()
		return op.Project(c.Context(), q, e.stdout)
	})
}

func projectListCommand(e *env) *cobra.Command {
	var conf configFlags
	var q node.ProjectQuery
	c := &cobra.Command{
		Use: "ls", Short: "List the projects that have uploads or settings",
		RunE: func(c *cobra.Command, _ []string) error { return runProject(c, e, &conf, q) },
	}
	conf.addBase(c.Flags())
	c.Flags().BoolVar(&q.JSON, "json", false, "print one JSON object per line")
	return c
}

func projectSetCommand(e *env) *cobra.Command {
	var conf configFlags
	var q node.ProjectQuery
	isPrivate := false
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a project public or private",
		Long: `Clients without a token may read a public project. New projects are private, except
default, which is public until a token for reading it exists.`,
		RunE: func(c *cobra.Command, args []string) error {
			if q.Public == isPrivate {
				return cli.Usage("exactly one of --public and --private is required")
			}
			q.Name = args[0]
			return runProject(c, e, &conf, q)
		},
	}
	fs := c.Flags()
	conf.addBase(fs)
	fs.BoolVar(&q.Public, "public", false, "make it public")
	fs.BoolVar(&isPrivate, "private", false, "make it private")
	return c
}
