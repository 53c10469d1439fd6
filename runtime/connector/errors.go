package connector

// UserError is a failure the user can mend: a missing folder, a value that does
// not fit, a file that was overwritten. Retrying the same input cannot help, so a pipeline that meets one stops.
type UserError struct {
	Summary string // short sentence without a full stop
	Detail  string // what was found, and what to do about it
	Attr    string // the attribute of the resource that it is about; empty when it is none
}

func (e *UserError) Error() string { return e.Summary + ": " + e.Detail }
