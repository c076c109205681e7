package symbolicate

// Room returns the capacity of the window in frames.
func (r *Result) Room() int { return cap(r.win.frames) }

// MostRoom is the limit of Room.
const MostRoom = 2 * windowLimit
