package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/meter"
)

// planned is how long a plan of so many new resources takes.
type planned struct {
	resources int
	ours      []meter.Cost
	terraform []meter.Cost // empty when it is not installed
}

// planTimes plans configurations of new resources: a quarter sources, a quarter streams, a quarter views and a
// quarter triggers, against as many terraform_data.
func planTimes(ctx context.Context, s settings) ([]planned, error) {
	var out []planned
	for _, n := range []int{1_000, 10_000} {
		dir, err := os.MkdirTemp(s.Cache, "plan-")
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
		for range s.toolPairs() {
			ours, _, err := meter.Command(ctx, dir, s.binary, "plan", "-out=saved")
			if err != nil {
				return nil, err
			}
			p.ours = append(p.ours, ours)
			if terraform == "" {
				continue
			}
			theirs, _, err := meter.Command(ctx, terraform, "terraform", "plan", "-out=saved")
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
	if _, _, err := meter.Command(ctx, folder, "terraform", "init"); err != nil {
		return ""
	}
	return folder
}

// plans runs W12: the binary's plan beside terraform's.
func (s settings) plans(ctx context.Context) (string, error) {
	all, err := planTimes(ctx, s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s Medians of %d alternating pairs; ratios with least and greatest.\n", machine(), s.toolPairs())
	b.WriteString("\nA plan of new resources, from process start to the saved plan: a quarter each sources, streams, views and triggers, beside as many `terraform_data`.\n\n")
	b.WriteString("| resources | ours | cpu | peak | terraform | cpu | peak | time ratio |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, p := range all {
		fmt.Fprintf(&b, "| %d | %s | %s | %.0f MB | %s\n", p.resources, seconds(p.ours, meter.WallSeconds), seconds(p.ours, meter.CPUSeconds),
			meter.Median(meter.Of(p.ours, meter.Megabytes)), p.terraformCells())
	}
	more, err := s.replans(ctx)
	return b.String() + more, err
}

func (p planned) terraformCells() string {
	if len(p.terraform) == 0 {
		return "not installed | – | – | – |"
	}
	return fmt.Sprintf("%s | %s | %.0f MB | %s |", seconds(p.terraform, meter.WallSeconds), seconds(p.terraform, meter.CPUSeconds),
		meter.Median(meter.Of(p.terraform, meter.Megabytes)), meter.Ratios(meter.Of(p.ours, meter.WallSeconds), meter.Of(p.terraform, meter.WallSeconds)))
}
