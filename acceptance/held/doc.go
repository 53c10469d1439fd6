// Package held tests that the rows that sources hold are those that their files gave.
package held
