package apply

import "context"

// accept records what really is, as a refresh-only plan found it. The runtime is not touched.
func (r *run) accept(ctx context.Context) error {
	if r.in.Plan.Accept == nil {
		return nil
	}
	for _, a := range r.in.Plan.Accept.Forget {
		r.book.remove(a)
	}
	for _, resource := range r.in.Plan.Accept.Resources {
		r.book.put(resource)
	}
	return r.save(ctx)
}
