package files

// Dirs is the folder or file that is listed, whatever the globs below it.
func (s *source) Dirs() []string {
	place, err := newTarget(s.path)
	if err != nil {
		return nil
	}
	return []string{place.root}
}
