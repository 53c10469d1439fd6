package state

// Decode reads a document, upgrading older versions. A document that cannot be used is a *CorruptedError or a *NewerError.
func Decode(data []byte) (*Document, error) { return nil, nil }

// Encode writes a document: indented, in a stable order, with a newline at its end.
func Encode(d *Document) ([]byte, error) { return nil, nil }
