package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"symbolon/internal/config"
)

func completionCommand(all []*command) *command {
	c := &command{
		name:  "completion",
		args:  "bash|zsh|fish",
		short: "Print a completion script for a shell",
		long: `bash:  source <(symbolon completion bash)
zsh:   source <(symbolon completion zsh)
fish:  symbolon completion fish | source`,
	}
	c.run = func(_ context.Context, e *env, args []string) error {
		if len(args) != 1 {
			return &usageError{text: "exactly one shell is required: bash, zsh or fish"}
		}
		list := append(all[:len(all):len(all)], c)
		switch args[0] {
		case "bash":
			bashCompletion(e.stdout, list)
		case "zsh":
			say(e.stdout, "autoload -U +X bashcompinit && bashcompinit\n")
			bashCompletion(e.stdout, list)
		case "fish":
			fishCompletion(e.stdout, list)
		default:
			return &usageError{text: fmt.Sprintf("invalid shell %q: must be bash, zsh or fish", args[0])}
		}
		return nil
	}
	return c
}

// words returns the subcommands and the flags of a command.
func (c *command) words() []string {
	words := names(c.subs)
	for _, s := range append([]*command{c}, c.subs...) {
		s.flagSet().VisitAll(func(f *flag.Flag) { words = append(words, "--"+f.Name) })
	}
	return words
}

// settings returns the keys for --set.
func settings() []string {
	var keys []string
	for _, k := range config.Keys(config.Config{}) {
		if k.Env != "" { // not in a list
			keys = append(keys, k.Path)
		}
	}
	return keys
}

func bashCompletion(w io.Writer, list []*command) {
	say(w, `_symbolon() {
	local cur=${COMP_WORDS[COMP_CWORD]} words
	if [ "${COMP_WORDS[COMP_CWORD-1]}" = --set ]; then
		compopt -o nospace
		COMPREPLY=($(compgen -S = -W "%s" -- "$cur"))
		return
	fi
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="help %s"
	else
		case ${COMP_WORDS[1]} in
`, strings.Join(settings(), " "), strings.Join(names(list), " "))
	for _, c := range list {
		say(w, "\t\t%s) words=\"%s\" ;;\n", c.name, strings.Join(c.words(), " "))
	}
	say(w, `		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _symbolon symbolon
`)
}

func fishCompletion(w io.Writer, list []*command) {
	for _, c := range list {
		say(w, "complete -c symbolon -n __fish_use_subcommand -a %s -d '%s'\n", c.name, strings.ReplaceAll(c.short, "'", `\'`))
		for _, word := range c.words() {
			if flagName, ok := strings.CutPrefix(word, "--"); ok {
				say(w, "complete -c symbolon -n '__fish_seen_subcommand_from %s' -l %s\n", c.name, flagName)
			} else {
				say(w, "complete -c symbolon -n '__fish_seen_subcommand_from %s' -a %s\n", c.name, word)
			}
		}
	}
}
