// Package beside tests what happens while one process runs the pipelines and others change them.
package beside
