//go:build linux

package mozilla

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// module is one .sym file.
type module struct {
	file, id, path string
	size           int64
	funcs          []function // by address
}

// function is a FUNC record.
type function struct {
	addr, size uint64
	name       int64 // where its name stands in the file
}

// findModules reads the .sym files below dir, laid out FILE/ID/NAME.sym. The
// largest is first.
func findModules(dir string) ([]module, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.sym"))
	if err != nil {
		return nil, err
	}
	var found []module
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		id := filepath.Dir(path)
		m := module{file: filepath.Base(filepath.Dir(id)), id: filepath.Base(id), path: path, size: int64(len(text))}
		if m.funcs = findFunctions(text); len(m.funcs) > 0 {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no .sym files in %s; bench/symbols.sh makes them", dir)
	}
	slices.SortFunc(found, func(a, b module) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.file, b.file))
	})
	return found, nil
}

// findFunctions finds the FUNC records that have a size.
func findFunctions(text []byte) (found []function) {
	mark := []byte("\nFUNC ")
	for at := 0; ; {
		i := bytes.Index(text[at:], mark)
		if i < 0 {
			break
		}
		at += i + len(mark)
		line := text[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		rest := bytes.TrimPrefix(line, []byte("m "))
		var field [3]uint64
		for k := range field {
			word, tail, _ := bytes.Cut(rest, []byte(" "))
			field[k], _ = strconv.ParseUint(string(word), 16, 64) // a bad one is a function without size
			rest = tail
		}
		if field[1] > 0 {
			found = append(found, function{addr: field[0], size: field[1], name: int64(at + len(line) - len(rest))})
		}
	}
	slices.SortStableFunc(found, func(a, b function) int { return cmp.Compare(a.addr, b.addr) })
	return found
}

// answer is as much of a v5 answer as is checked.
type answer struct {
	Results []struct {
		Stacks [][]struct {
			Module   string `json:"module"`
			Offset   string `json:"module_offset"`
			Function string `json:"function"`
			Within   string `json:"function_offset"`
		} `json:"stacks"`
	} `json:"results"`
}

// checkAnswer compares the function of every stride-th frame of a v5 answer
// with the FUNC record that the file has there. It returns the number of right ones.
func checkAnswer(modules []module, body []byte, stride int) (int, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return 0, err
	}
	open := map[string]*os.File{}
	defer func() {
		for _, f := range open {
			f.Close()
		}
	}()
	seen, right := 0, 0
	for _, r := range a.Results {
		for _, s := range r.Stacks {
			for _, f := range s {
				if seen++; seen%stride != 0 {
					continue
				}
				m := slices.IndexFunc(modules, func(m module) bool { return m.file == f.Module })
				if m < 0 {
					return right, fmt.Errorf("a frame of the unknown module %q", f.Module)
				}
				if open[f.Module] == nil {
					var err error
					if open[f.Module], err = os.Open(modules[m].path); err != nil {
						return right, err
					}
				}
				want, within, err := modules[m].at(open[f.Module], f.Offset)
				if err != nil {
					return right, err
				}
				if want != f.Function || within != f.Within {
					return right, fmt.Errorf("%s at %s: answered %q + %s, the file says %q + %s", f.Module, f.Offset, f.Function, f.Within, want, within)
				}
				right++
			}
		}
	}
	return right, nil
}

// at reads the name of the function at an offset as it is written in answers,
// and how far inside of it that is.
func (m *module) at(f *os.File, offset string) (name, within string, err error) {
	addr, err := strconv.ParseUint(offset, 0, 64)
	if err != nil {
		return "", "", err
	}
	i, found := slices.BinarySearchFunc(m.funcs, addr, func(f function, a uint64) int { return cmp.Compare(f.addr, a) })
	if !found {
		i--
	}
	if i < 0 || addr-m.funcs[i].addr >= m.funcs[i].size {
		return "", "", nil
	}
	buf := make([]byte, 64<<10)
	n, _ := f.ReadAt(buf, m.funcs[i].name) // short at the end of the file
	line, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	return string(line), fmt.Sprintf("%#x", addr-m.funcs[i].addr), nil
}
