package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// terraformVersion is the version of Terraform whose machine-readable formats streamform speaks; tools that drive Terraform ask for it.
const terraformVersion = "1.11.4"

// versionOutput is what version -json prints; the first two fields and the last are Terraform's.
type versionOutput struct {
	TerraformVersion   string            `json:"terraform_version"`
	Platform           string            `json:"platform"`
	StreamformVersion  string            `json:"streamform_version"`
	ProviderSelections map[string]string `json:"provider_selections"`
	FormatVersion      string            `json:"format_version"`
}

func (c *cli) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [options]",
		Short: "Shows the version of streamform",
		Args:  between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "_" + runtime.GOARCH
			if !asJSON {
				_, err := fmt.Fprintf(c.out, "streamform v%s\non %s\n", c.version, platform)
				return err
			}
			return c.printJSON(versionOutput{
				TerraformVersion: terraformVersion, Platform: platform, StreamformVersion: c.version,
				ProviderSelections: map[string]string{}, FormatVersion: "1.0",
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Prints JSON for programs instead of text")
	accept(cmd.Flags(), "no-color", "false")
	return cmd
}

// printJSON prints one indented document.
func (c *cli) printJSON(v any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
