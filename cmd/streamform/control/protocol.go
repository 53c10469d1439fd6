// Package control has a command carried out by the process that holds the runtime: the two speak over a socket in the runtime's folder.
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// protocol counts the forms that messages have had.
const protocol = 1

// longest is the longest path, in bytes, that a socket may have on every system.
const longest = 100

// Stream is what is known of a stream where the command was typed.
type Stream struct {
	Terminal bool `json:"terminal,omitempty"`
	Width    int  `json:"width,omitempty"` // columns of a terminal
}

// Request is a command line, and what is known where it was typed.
type Request struct {
	Protocol int      `json:"protocol"`
	Version  string   `json:"version"` // of the program
	Dir      string   `json:"dir"`     // working directory
	Args     []string `json:"args"`
	Environ  []string `json:"environ"` // NAME=value
	In       Stream   `json:"in"`
	Out      Stream   `json:"out"`
	Err      Stream   `json:"err"`
}

// fromClient is a message that follows the request.
type fromClient struct {
	Interrupt bool   `json:"interrupt,omitempty"`
	Input     []byte `json:"input,omitempty"` // answers Want
	Ended     bool   `json:"ended,omitempty"` // there is no more input
}

// fromServer is a message to the client; the last one has Exit or Refused.
type fromServer struct {
	Out     []byte   `json:"out,omitempty"`
	Err     []byte   `json:"err,omitempty"`
	Want    int      `json:"want,omitempty"` // so many bytes of input, at most
	Exit    *int     `json:"exit,omitempty"`
	Refused *Refusal `json:"refused,omitempty"`
}

// Refusal is why a process does not carry out a command.
type Refusal struct {
	Summary string `json:"summary"`
	Detail  string `json:"detail"`
}

func (r *Refusal) Error() string { return r.Summary + ": " + r.Detail }

// line is a connection on which messages are JSON values, one after the other. Any goroutine may send.
type line struct {
	conn    net.Conn
	decoder *json.Decoder
	mu      sync.Mutex
}

func newLine(c net.Conn) *line { return &line{conn: c, decoder: json.NewDecoder(c)} }

func (l *line) send(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.conn.Write(append(text, '\n'))
	return err
}

// Path is where the process that holds a runtime listens: below the runtime's folder, relative to the working directory where that is shorter.
func Path(runtimeDir string) string {
	path := filepath.Join(runtimeDir, "control.sock")
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}

// ended reports whether the other side is gone.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
