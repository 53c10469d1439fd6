package document

import (
	"encoding/json"

	"github.com/streamform/streamform/graph/plan"
)

// jsonDrift is one difference between record and reality, as a change that was made already.
type jsonDrift struct {
	jsonResourceName
	Change   jsonChange `json:"change"`
	Kind     string     `json:"kind"`
	Detail   string     `json:"detail"`
	Advice   string     `json:"advice,omitempty"`
	Proposal string     `json:"proposal,omitempty"`
}

// drifts lists what was changed outside of streamform.
func drifts(p *plan.Plan) []jsonDrift {
	var out []jsonDrift
	for _, d := range p.Drift {
		action := plan.Update
		if d.Deleted() {
			action = plan.Delete
		}
		out = append(out, jsonDrift{jsonResourceName: nameOf(d.Addr), Kind: d.Kind, Detail: d.Detail, Advice: d.Advice, Proposal: d.Proposal,
			Change: jsonChange{Actions: actions(action), Before: orNull(d.Before), After: orNull(d.After),
				AfterUnknown: struct{}{}, BeforeSensitive: mask(d.Before), AfterSensitive: mask(d.After)}})
	}
	return out
}

type jsonCheck struct {
	Address   jsonCheckAddress    `json:"address"`
	Status    string              `json:"status"` // pass, fail
	Instances []jsonCheckInstance `json:"instances"`
}

type jsonCheckAddress struct {
	ToDisplay string `json:"to_display"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
}

type jsonCheckInstance struct {
	Address struct {
		ToDisplay string `json:"to_display"`
	} `json:"address"`
	Status   string             `json:"status"`
	Problems []jsonCheckProblem `json:"problems,omitempty"`
}

type jsonCheckProblem struct {
	Message string `json:"message"`
}

// checks are the results of the check blocks.
func checks(p *plan.Plan) []jsonCheck {
	var out []jsonCheck
	for _, c := range p.Checks {
		name := "check." + c.Name
		instance := jsonCheckInstance{Status: "pass"}
		instance.Address.ToDisplay = name
		for _, problem := range c.Problems {
			instance.Status = "fail"
			instance.Problems = append(instance.Problems, jsonCheckProblem{problem})
		}
		out = append(out, jsonCheck{Address: jsonCheckAddress{ToDisplay: name, Kind: "check", Name: c.Name},
			Status: instance.Status, Instances: []jsonCheckInstance{instance}})
	}
	return out
}

// orNull writes an absent value as null.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}
