package config

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/source"
)

const eliotPrefix = "ELIOT_"

// portVariable is Eliot's too, but others use the name as well: it counts only
// beside a variable that is certainly Eliot's.
const portVariable = "PORT"

// counterpart is a key that means the same as a variable of Eliot.
type counterpart struct {
	name    string
	key     string
	convert func(value string) (string, error)
}

var counterparts = [...]counterpart{
	{"ELIOT_SYMBOLS_URLS", "sources", eliotSources},
	{"ELIOT_SYMBOLS_CACHE_DIR", "data", asItIs},
	{"ELIOT_SYMBOLS_CACHE_MAX_SIZE", "cache.disk.max_bytes", asItIs},
	{"ELIOT_LOGGING_LEVEL", "log.level", eliotLevel},
	{portVariable, "http.listen", eliotPort},
}

// eliot reads the variables of Eliot in an environment. Each leaves a notice.
func eliot(environ []string) (read []Foreign, notices []string) {
	vars := variables(environ)
	var present, known []string
	for name, value := range vars {
		if strings.HasPrefix(name, eliotPrefix) && value != "" {
			present = append(present, name)
		}
	}
	if present == nil {
		return nil, nil
	}
	for _, c := range counterparts {
		known = append(known, c.name)
		value := vars[c.name]
		if value == "" {
			continue
		}
		converted, err := c.convert(value)
		read = append(read, Foreign{Name: c.name, Key: c.key, Value: converted, Err: err})
		notices = append(notices, fmt.Sprintf("%s is read as %s; its own variable is %s", c.name, c.key, variableOf(c.key)))
	}
	slices.Sort(present)
	for _, name := range present {
		if !slices.Contains(known, name) {
			notices = append(notices, shownKey(name)+" has no counterpart and is ignored"+console.DidYouMean(console.Nearest(name, known)))
		}
	}
	return read, notices
}

func asItIs(value string) (string, error) { return value, nil }

// eliotSources makes sources of a list of URLs, which stay in their order.
func eliotSources(value string) (string, error) {
	var list []string
	for text := range strings.SplitSeq(value, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !strings.HasPrefix(text, "http") {
			return "", fmt.Errorf("source %d is not an http(s) URL", len(list)+1)
		}
		c, err := source.ParseSpec(text)
		if err != nil {
			return "", err
		}
		list = append(list, fmt.Sprintf("{id: %s, type: %s, url: %s}", quote(c.ID), c.Type, quote(text)))
	}
	return "[" + strings.Join(list, ", ") + "]", nil
}

// eliotLevel translates the names of Python's levels.
func eliotLevel(value string) (string, error) {
	level := strings.ToLower(value)
	switch level {
	case "warning":
		return "warn", nil
	case "critical", "fatal":
		return "error", nil
	}
	return level, nil
}

// eliotPort listens on all interfaces, as Eliot does.
func eliotPort(value string) (string, error) { return net.JoinHostPort("0.0.0.0", value), nil }
