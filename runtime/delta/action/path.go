package action

import (
	"fmt"
	"net/url"
	"strings"
)

// DecodePath turns the path of an action into a raw one: URI-decoded exactly once;
// absolute local paths in one form (/a/b for /a/b, file:/a/b and file:///a/b). A path
// relative to the table stays relative. It fails on broken %-escapes.
func DecodePath(path string) (string, error) {
	raw, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("path %q is not a valid URI: %w", path, err)
	}
	if rest, ok := strings.CutPrefix(raw, "file:/"); ok {
		return "/" + strings.TrimLeft(rest, "/"), nil
	}
	return raw, nil
}

// EncodePath is the inverse of DecodePath for paths relative to the table: every
// byte that a URI path may not hold as it is becomes %XX.
func EncodePath(raw string) string {
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; plainInPath(c) {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// plainInPath holds for RFC 3986's unreserved characters, sub-delims that other
// writers leave alone too, and the separators of a relative path. A colon is left
// out: in a first segment it would read as a scheme.
func plainInPath(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("/-_.~=!$&'()*+,;@", c) >= 0
}

// IsAbsolute tells whether a decoded path stands alone rather than below the table's root.
func IsAbsolute(decoded string) bool {
	if strings.HasPrefix(decoded, "/") {
		return true
	}
	scheme, _, found := strings.Cut(decoded, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, "/=")
}
