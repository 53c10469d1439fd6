package bound

import (
	"bytes"
	"encoding/json"
	"math/big"
)

// integer reads a whole number of any width: a JSON number, or the two halves
// {upper, lower} that the plan writes for 128 bits.
func (v Value) integer() (string, error) {
	data := bytes.TrimSpace(v.Data)
	if len(data) == 0 || data[0] != '{' {
		n, ok := new(big.Int).SetString(string(data), 10)
		if !ok {
			return "", Unsupportedf(ByConstant, "a number constant of an unknown form")
		}
		return n.String(), nil
	}
	var halves struct {
		Upper json.Number `json:"upper"`
		Lower json.Number `json:"lower"`
	}
	if err := json.Unmarshal(data, &halves); err != nil {
		return "", Unsupportedf(ByConstant, "a number constant of an unknown form")
	}
	upper, ok1 := new(big.Int).SetString(string(halves.Upper), 10)
	lower, ok2 := new(big.Int).SetString(string(halves.Lower), 10)
	if !ok1 || !ok2 {
		return "", Unsupportedf(ByConstant, "a number constant of an unknown form")
	}
	return upper.Lsh(upper, 64).Add(upper, lower).String(), nil
}
