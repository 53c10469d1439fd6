package lang_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a person writes has an order, whatever the value is made of; what is computed has none.
func TestKeysAsWritten(t *testing.T) {
	const locals = `
variable "given" {
  type    = map(string)
  default = { z = "1", a = "2" }
}
locals {
  base  = { z = "1", a = "2" }
  again = local.base
  name  = "m"
}
`
	for _, c := range []struct {
		text string
		want []string
	}{
		{`{ z = "1", a = "2", M = "3" }`, []string{"z", "a", "M"}},
		{`{ "z z" : "1", (local.name) = "2", "${local.name}x" = "3" }`, []string{"z z", "m", "mx"}},
		{`{ z = "1", a = "2", z = "3" }`, []string{"z", "a"}},
		{`({ z = "1", a = "2" })`, []string{"z", "a"}},
		{`local.again`, []string{"z", "a"}},
		{`merge({ q = "0" }, local.base, { a = "3", b = "4" })`, []string{"q", "z", "a", "b"}},
		{`tomap({ z = "1", a = "2" })`, []string{"z", "a"}},
		{`merge(local.base, var.given)`, nil},
		{`var.given`, nil},
		{`{ for k, v in local.base : k => v }`, nil},
		{`true ? local.base : {}`, nil},
	} {
		t.Run(c.text, func(t *testing.T) {
			cfg := loadFiles(t, map[string]string{"main.sf.hcl": locals + "source \"files\" \"s\" {\n  path = \"in\"\n  format = \"json\"\n  options = " + c.text + "\n}\n"})
			require.Equal(t, c.want, cfg.Resources[0].Keys["options"])
		})
	}
}
