package action

import (
	"encoding/json"
	"fmt"
)

// CommitInfo says who made a table commit and why. Only TxnID, InCommitTimestamp
// and IsBlindAppend have a meaning for the protocol; the rest is for people.
type CommitInfo struct {
	Timestamp           int64             `json:"timestamp"` // ms since 1970
	Operation           string            `json:"operation"`
	OperationParameters map[string]string `json:"operationParameters"`
	ReadVersion         *int64            `json:"readVersion,omitempty"`
	IsolationLevel      string            `json:"isolationLevel,omitempty"`
	IsBlindAppend       *bool             `json:"isBlindAppend,omitempty"`
	OperationMetrics    map[string]string `json:"operationMetrics,omitempty"`
	EngineInfo          string            `json:"engineInfo,omitempty"`
	TxnID               string            `json:"txnId,omitempty"`
	InCommitTimestamp   *int64            `json:"inCommitTimestamp,omitempty"` // ms since 1970
	UserMetadata        string            `json:"userMetadata,omitempty"`
}

// UnmarshalJSON takes what it can: writers put values of any JSON type into
// commitInfo, and nothing they put there may make a table unreadable.
func (c *CommitInfo) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("commitInfo is not an object: %w", err)
	}
	c.Timestamp = valueOr[int64](fields["timestamp"], 0)
	c.Operation = valueOr(fields["operation"], "")
	c.OperationParameters = texts(fields["operationParameters"])
	c.OperationMetrics = texts(fields["operationMetrics"])
	c.ReadVersion = pointer[int64](fields["readVersion"])
	c.IsolationLevel = valueOr(fields["isolationLevel"], "")
	c.IsBlindAppend = pointer[bool](fields["isBlindAppend"])
	c.EngineInfo = valueOr(fields["engineInfo"], "")
	c.TxnID = valueOr(fields["txnId"], "")
	c.InCommitTimestamp = pointer[int64](fields["inCommitTimestamp"])
	c.UserMetadata = valueOr(fields["userMetadata"], "")
	return nil
}

func valueOr[T any](raw json.RawMessage, otherwise T) T {
	if p := pointer[T](raw); p != nil {
		return *p
	}
	return otherwise
}

// pointer is nil for an absent field, null, or a value of another type.
func pointer[T any](raw json.RawMessage) *T {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return &v
}

// texts reads an object whose values are of any JSON type; other than text they stay JSON.
func texts(raw json.RawMessage) map[string]string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil
	}
	out := make(map[string]string, len(fields))
	for name, value := range fields {
		out[name] = valueOr(value, string(value))
	}
	return out
}
