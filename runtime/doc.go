// Package runtime has no code of its own: its rooms are batch, byhash, connector, kinds, query, store, delta, job and host.
package runtime
