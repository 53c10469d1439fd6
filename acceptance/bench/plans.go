package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// planned is how long a plan of so many new resources takes.
type planned struct {
	resources int
	ours      []cost
	terraform []cost // empty when it is not installed
}

// planTimes plans configurations of new resources: a quarter sources, a quarter streams, a quarter views and a
// quarter triggers, against as many terraform_data.
func planTimes(ctx context.Context, s settings) ([]planned, error) {
	var out []planned
	for _, n := range []int{1_000, 10_000} {
		dir, err := os.MkdirTemp(s.cache, "plan-")
		if err != nil {
			return nil, err
		}
		p := planned{resources: n}
		if err := os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(manyResources(n)), 0o644); err != nil {
			return nil, err
		}
		for i := range n / 4 {
			if err := os.MkdirAll(filepath.Join(dir, "landing", fmt.Sprint(i)), 0o755); err != nil {
				return nil, err
			}
		}
		terraform := terraformFolder(ctx, dir, n)
		for range s.pairs {
			ours, err := measure(ctx, dir, s.binary, "plan", "-out=saved")
			if err != nil {
				return nil, err
			}
			p.ours = append(p.ours, ours)
			if terraform == "" {
				continue
			}
			theirs, err := measure(ctx, terraform, "terraform", "plan", "-out=saved")
			if err != nil {
				return nil, err
			}
			p.terraform = append(p.terraform, theirs)
		}
		out = append(out, p)
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func manyResources(n int) string {
	var b strings.Builder
	for i := range n / 4 {
		fmt.Fprintf(&b, `
source "files" "source_%[1]d" {
  path    = "./landing/%[1]d"
  format  = "json"
  columns = { id = "BIGINT", kind = "VARCHAR", value = "BIGINT" }
}
stream "stream_%[1]d" {
  sql = "SELECT id, value FROM source_%[1]d WHERE kind = 'k%[1]d'"
}
view "view_%[1]d" {
  sql     = "SELECT value %% %[2]d AS bucket, count(*) AS n FROM stream_%[1]d GROUP BY bucket"
  trigger = trigger.processing_time.trigger_%[1]d
}
trigger "processing_time" "trigger_%[1]d" {
  interval = "%[2]ds"
}
`, i, i+2)
	}
	return b.String()
}

// terraformFolder prepares a folder for terraform; empty when it is not installed or cannot be set up.
func terraformFolder(ctx context.Context, dir string, n int) string {
	if _, err := exec.LookPath("terraform"); err != nil {
		return ""
	}
	folder := filepath.Join(dir, "terraform")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return ""
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"data_%[1]d\" {\n  input = \"SELECT id, value FROM source_%[1]d WHERE kind = 'k%[1]d'\"\n}\n", i)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.tf"), []byte(b.String()), 0o644); err != nil {
		return ""
	}
	if _, err := measure(ctx, folder, "terraform", "init"); err != nil {
		return ""
	}
	return folder
}
