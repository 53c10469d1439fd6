package document

import (
	"fmt"
	"strings"
)

// field is one place in the document: its path, where [] is any element of a list and * any name of an object, and what it says.
type field struct{ path, text string }

// Reference is the page of docs/reference on plan JSON.
func Reference() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Plan JSON

%[1]sstreamform show -json PLAN%[1]s prints a saved plan as one JSON document. It has the shape of Terraform's plan JSON, format version %[2]s, so that
tools which read plans of Terraform read it too; what only streamform knows stands beside Terraform's fields and is marked with **+**.

Fields may be added. A field that is listed here does not change its meaning or go away while %[1]sformat_version%[1]s has the same first number.
Sensitive values are never part of the document.

A path such as %[1]sresource_changes[].class%[1]s means the field %[1]sclass%[1]s of each element of the list %[1]sresource_changes%[1]s; %[1]s*%[1]s stands for any name.

| field | what it says |
|---|---|
`, "`", jsonFormat)
	for _, f := range fields() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.path, f.text)
	}
	b.WriteString(`
## Lines

` + "`streamform plan -json` and `apply -json` print one JSON object per line instead, in the shape of Terraform's machine-readable UI. A line of type `planned_change` has the fields `class`, `class_reason`, `price`, `operators`, `receives` and `denials`" + `
beside Terraform's in its ` + "`change`; one of type `resource_drift` has `kind`, `detail`, `advice` and `proposal`; one of type `preview` has what `-preview` found" + `. They mean what they mean above.

## Classes

| class | what it means for the data |
|---|---|
| noop | nothing: another spelling of the same |
| in_place | the new value counts from the next epoch; rows and keyed data stay |
| migrate | keyed data is carried over or converted |
| rebuild_from_state | computed anew from rows the runtime holds |
| replay_from_source | computed by reading sources again |
| blocked | cannot be done as asked; the reason says why, and the plan is errored |
`)
	return b.String()
}

// fields lists every field of the document in the order a reader meets them.
func fields() []field {
	all := []field{
		{"format_version", "version of this format"},
		{"terraform_version", "the Terraform whose format this is"},
		{"streamform_version", "**+** the streamform that made the plan"},
		{"mode", "**+** normal, destroy or refresh-only"},
		{"complete", "false when -target or -exclude left something out, or after an error"},
		{"applyable", "whether apply would do anything with it"},
		{"errored", "whether making the plan ended with errors; such a plan cannot be applied"},
		{"allowed", "**+** addresses that -allow named"},
		{"variables.*.value", "value of an input variable; absent when it is sensitive"},
		{"planned_values", "outputs and resources as they are to be: the shape of prior_state.values"},
		{"prior_state.format_version", "version of the format of the part below"},
		{"prior_state.terraform_version", "the Terraform whose format that is"},
		{"prior_state.values.outputs.*.sensitive", "whether an output is sensitive"},
		{"prior_state.values.outputs.*.value", "its value; absent when it is sensitive"},
		{"prior_state.values.outputs.*.type", "its type, as Terraform writes types"},
		{"prior_state.values.root_module.resources[].schema_version", "version of the kind's attributes"},
		{"prior_state.values.root_module.resources[].values", "the attributes"},
		{"prior_state.values.root_module.resources[].sensitive_values", "always empty: sensitive values are not recorded"},
		{"prior_state.values.root_module.resources[].depends_on", "addresses of what it reads or refers to"},
	}
	all = append(all, named("prior_state.values.root_module.resources[]")...)
	all = append(all, changeFields()...)
	all = append(all, named("resource_drift[]")...)
	all = append(all, edits("resource_drift[]")...)
	return append(all,
		field{"resource_drift[].kind", "**+** what kind of change was made outside of streamform: missing, generation, value, target_gone, target_restored, foreign_rows, foreign_columns, new_columns, files_lost"},
		field{"resource_drift[].detail", "**+** what was found, a sentence"},
		field{"resource_drift[].advice", "**+** what can be done about it, in sentences"},
		field{"resource_drift[].proposal", "**+** what could be written into the block of the resource"},
		field{"output_changes.*.actions", "what happens to an output: no-op, create, update or delete"},
		field{"output_changes.*.before", "its recorded value; null when it is sensitive"},
		field{"output_changes.*.after", "its planned value; null when it is sensitive"},
		field{"output_changes.*.after_unknown", "always false: nothing is known only after apply"},
		field{"output_changes.*.before_sensitive", "whether it is sensitive"},
		field{"output_changes.*.after_sensitive", "the same"},
		field{"checks[].address.to_display", "a check block"},
		field{"checks[].address.kind", "always check"},
		field{"checks[].address.name", "its name"},
		field{"checks[].status", "pass, or fail when an assertion does not hold"},
		field{"checks[].instances[].address.to_display", "the check block again: there is one instance"},
		field{"checks[].instances[].status", "pass or fail"},
		field{"checks[].instances[].problems[].message", "error_message of an assertion that does not hold"},
	)
}

// named are the fields by which Terraform names a resource.
func named(at string) []field {
	return []field{
		{at + ".address", "address of the resource"},
		{at + ".mode", "always managed"},
		{at + ".type", "its kind, such as source.files or view"},
		{at + ".name", "its name"},
		{at + ".index", "its key, a text or a number, if its block has `for_each` or `count`"},
		{at + ".provider_name", "always streamform"},
	}
}

// edits are the fields of a change of values.
func edits(at string) []field {
	return []field{
		{at + ".change.actions", "no-op, create, update, delete, or create and delete for a replacement"},
		{at + ".change.before", "attributes as recorded; null when there are none"},
		{at + ".change.after", "attributes as planned, or as found; null when there are none"},
		{at + ".change.after_unknown", "always empty: nothing is known only after apply"},
		{at + ".change.before_sensitive", "always empty: sensitive values are not recorded"},
		{at + ".change.after_sensitive", "the same"},
	}
}

// changeFields are those of a change, with what it costs the data.
func changeFields() []field {
	const at = "resource_changes[]"
	all := append(named(at), edits(at)...)
	return append(all,
		field{at + ".previous_address", "the address before a move"},
		field{at + ".action_reason", "replace_by_request, replace_by_triggers, replace_because_cannot_update, delete_because_no_resource_config, delete_because_wrong_repetition, delete_because_count_index or delete_because_each_key"},
		field{at + ".class", "**+** what the change costs the data, see below"},
		field{at + ".reason", "**+** why it has this class"},
		field{at + ".operators[].name", "**+** an operator of an edited query, as explain shows it"},
		field{at + ".operators[].kind", "**+** what kind of operator it is"},
		field{at + ".operators[].detail", "**+** what it does"},
		field{at + ".operators[].fate", "**+** kept, migrated, rebuilt, replayed, new or dropped"},
		field{at + ".operators[].reason", "**+** why"},
		field{at + ".shares.with", "**+** views that serve, of which it takes keyed data as it is and goes on having it together with them"},
		field{at + ".shares.operators", "how many operators it shares"},
		field{at + ".shares.of", "how many it has"},
		field{at + ".shares.reads", "names of the relations that its other operators read; nothing else is read"},
		field{at + ".receives", "**+** views it reads that get other rows: it is given the difference"},
		field{at + ".boundaries[].of", "**+** an edit with history = \"keep\" since which other rows are produced: what was edited"},
		field{at + ".boundaries[].id", "**+** its ID"},
		field{at + ".boundaries[].serial", "**+** serial of the state that the edit was planned against"},
		field{at + ".boundaries[].before", "**+** SHA-256 of the definition before the edit"},
		field{at + ".boundaries[].after", "**+** and after it"},
		field{at + ".price.files", "**+** files to read"},
		field{at + ".price.rows", "**+** rows to read of them; absent when unknown"},
		field{at + ".price.bytes", "**+** bytes to read of them, as stored"},
		field{at + ".price.sources", "**+** addresses of the sources they are read from"},
		field{at + ".price.reads[].source", "**+** one of these sources"},
		field{at + ".price.reads[].from", "**+** the position it is read from: start, or stop, to which an apply that did not end has come"},
		field{at + ".price.reads[].files", "**+** files to read of it"},
		field{at + ".price.reads[].bytes", "**+** bytes to read of it"},
		field{at + ".price.reads[].rows", "**+** rows to read of it; absent when unknown"},
		field{at + ".price.held_rows", "**+** rows the runtime holds that are read instead of a source"},
		field{at + ".price.seconds", "**+** estimated time, from the rates of past epochs; absent when unknown"},
		field{at + ".denials[].policy", "**+** a plan_policy block that objects"},
		field{at + ".denials[].rule", "**+** its attribute: max_replay, protect_sinks or require_approval"},
		field{at + ".denials[].reason", "**+** what it objects to"},
		field{at + ".denials[].allowed", "**+** whether -allow lets it through"},
	)
}
