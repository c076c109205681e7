package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// Part is a part of the work, for one of several machines. The zero value is all of
// it.
//
// The units of different parts are disjoint, and together they are all. If there are
// fewer parts than inputs, each input is read by one of them; otherwise each part reads
// one input.
type Part struct {
	Index int // from 0 to Count-1
	Count int
}

// schedulers has the variables with the index of a task and the number of tasks.
var schedulers = []struct{ index, count string }{
	{"CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"},
	{"AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE"},
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"},
	{"JOB_COMPLETION_INDEX", ""}, // Kubernetes
}

// ParsePart parses INDEX/COUNT. "auto" as INDEX takes it from the variables of the
// scheduler, and without COUNT the number of tasks, too.
func ParsePart(text string, getenv func(name string) string) (Part, error) {
	index, count, _ := strings.Cut(text, "/")
	if index == "auto" {
		index = ""
		for _, s := range schedulers {
			if index = getenv(s.index); index != "" {
				if count == "" && s.count != "" {
					count = getenv(s.count)
				}
				break
			}
		}
		if index == "" {
			return Part{}, fmt.Errorf("invalid part %q: no variable of Kubernetes, Slurm, AWS Batch or Cloud Run has the index of this task", text)
		}
	}
	n, errCount := strconv.ParseUint(count, 10, 31)
	i, errIndex := strconv.ParseUint(index, 10, 31)
	switch {
	case errCount != nil || errIndex != nil:
		return Part{}, fmt.Errorf("invalid part %q: must be INDEX/COUNT, auto/COUNT, or auto if the scheduler sets the number of tasks", text)
	case n == 0:
		return Part{}, fmt.Errorf("invalid part %d/%d: COUNT must be at least 1", i, n)
	case i >= n:
		return Part{}, fmt.Errorf("invalid part %d/%d: must be below %[2]d; tasks are numbered from 0", i, n)
	}
	return Part{int(i), int(n)}, nil
}

// reads reports whether the part has units of one of so many inputs.
func (p Part) reads(input, inputs int) bool {
	return p.Count == 0 || p.Count <= inputs && input%p.Count == p.Index || p.Count > inputs && p.Index%inputs == input
}

// has reports whether the part has a unit.
func (p Part) has(id unitID, inputs int) bool {
	if !p.reads(id.input, inputs) || p.Count <= inputs {
		return p.reads(id.input, inputs)
	}
	readers := (p.Count - id.input + inputs - 1) / inputs // of this input
	return id.number%readers == p.Index/inputs
}
