package symbolicate

// Room is how many frames the window has memory for.
func (r *Result) Room() int { return cap(r.win.frames) }

// MostRoom is what it may be.
const MostRoom = 2 * windowRoom
