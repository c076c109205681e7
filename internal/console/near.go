package console

import "strings"

// maxWord bounds the work for one comparison.
const maxWord = 64

// Nearest returns the candidate with the least distance from word, the first of
// them, or nothing if all are too far.
func Nearest(word string, candidates []string) string {
	best, least := "", min(3, 1+len(word)/4)
	if len(word) > maxWord {
		return ""
	}
	for _, c := range candidates {
		if len(c) > maxWord {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	return best
}

// distance returns the number of letters to insert, remove, replace or swap with
// their neighbour to turn a into b.
func distance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// DidYouMean offers near at the end of a message, unless it is empty.
func DidYouMean(near string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + near + "?"
}

// OneOf lists words, for a message that asks for one of them.
func OneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
