// Package acceptance tests the whole tool from outside: scripts on the real binary, examples, crashes, the house rules.
package acceptance
