package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/streamform/streamform/graph/plan"
)

// maxMarkdown is how many characters a comment on a pull request may have; some are left for the note that something was cut.
const maxMarkdown = 65_536 - 512

// Markdown writes the plan for a comment on a pull request: a summary, a table of the changes, and each change to be
// unfolded. It has at most 65,536 characters: changes that do not fit are left out, and a note says how many.
func Markdown(w io.Writer, p *plan.Plan, o Options) error {
	o.Color = false
	m := &markdown{plan: indexed(p), options: o}
	m.head()
	if err := m.details(); err != nil {
		return err
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}

// markdown is the text as far as it is written.
type markdown struct {
	plan    index
	options Options
	out     strings.Builder
	length  int // characters
}

func (m *markdown) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	m.out.WriteString(text)
	m.length += utf8.RuneCountInString(text)
}

// shown are the changes a reader wants to see: those that do something, and those that cannot be done.
func (m *markdown) shown() []plan.Change {
	var out []plan.Change
	for _, c := range m.plan.Changes {
		if c.Action != plan.NoOp || c.Class == plan.Blocked {
			out = append(out, c)
		}
	}
	return out
}

func (m *markdown) head() {
	p, counts := m.plan.Plan, m.plan.Counts()
	title := fmt.Sprintf("%d to add, %d to change, %d to destroy", counts.Add, counts.Change, counts.Destroy)
	switch {
	case p.Mode == plan.RefreshOnly && p.Empty(), p.Empty():
		title = "no changes"
	case p.Mode == plan.RefreshOnly:
		title = fmt.Sprintf("%s to record", plan.Plural(int64(len(p.Drift)), "change"))
	case counts == plan.Counts{}:
		title = "changes to outputs only"
	}
	m.line("### streamform plan: %s\n", title)
	if p.Errored {
		m.line("**The plan has errors and cannot be applied.**\n")
	}
	for _, d := range p.Drift {
		m.line("> **Changed outside of streamform:** `%s`: %s\n", d.Addr, escape(d.Detail))
	}
	for _, c := range p.Checks {
		for _, problem := range c.Problems {
			m.line("> **Check %s failed:** %s\n", escape(c.Name), escape(problem))
		}
	}
	m.table()
	t := &text{options: m.options, plan: m.plan}
	t.total(p)
	if t.out.Len() > 0 {
		m.line("%s\n", escape(strings.TrimSpace(t.out.String())))
	}
}

// maxTable is how many changes the table lists.
const maxTable = 100

func (m *markdown) table() {
	shown := m.shown()
	if len(shown) == 0 {
		return
	}
	m.line("| | resource | class | what it does to the data |\n|---|---|---|---|")
	for _, c := range shown[:min(len(shown), maxTable)] {
		var costs []string
		for _, l := range append(cost(m.plan.Plan, c), m.plan.receivers(c.Addr), m.plan.mixture(c.Addr)) {
			if l != "" {
				costs = append(costs, escape(l))
			}
		}
		for _, d := range c.Denials {
			if d.Waived {
				costs = append(costs, "let through once: it "+escape(d.Reason))
			} else {
				costs = append(costs, "**denied:** it "+escape(d.Reason))
			}
		}
		if c.Class == plan.Blocked {
			costs = append(costs, "**blocked:** "+escape(c.Reason))
		}
		m.line("| %s | `%s` | %s | %s |", actionWord(c), c.Addr, c.Class, strings.Join(costs, "<br>"))
	}
	m.line("")
	if more := len(shown) - maxTable; more > 0 {
		m.line("… and %s.\n", plan.Plural(int64(more), "more change"))
	}
}

func actionWord(c plan.Change) string {
	if c.Class == plan.Blocked {
		return "blocked"
	}
	if c.PreviousAddr != nil && !c.Computes() && len(c.Changed) == 0 {
		return "move"
	}
	return string(c.Action)
}

// details writes each change to be unfolded, as long as there is room.
func (m *markdown) details() error {
	shown := m.shown()
	for i, c := range shown {
		if c.Action == plan.NoOp {
			continue
		}
		t := &text{options: m.options, plan: m.plan}
		if err := t.change(c); err != nil {
			return err
		}
		block := m.fold(c, t.out.String())
		if m.length+utf8.RuneCountInString(block) > maxMarkdown {
			m.line("_%s left out here: a comment may not be longer. `streamform show PLAN` shows all._", plan.Plural(int64(len(shown)-i), "change"))
			return nil
		}
		m.line("%s", block)
	}
	t := &text{options: m.options, plan: m.plan}
	if err := t.outputs(m.plan.Plan); err != nil {
		return err
	}
	if changes := strings.TrimSpace(t.out.String()); changes != "" && m.length+utf8.RuneCountInString(changes) < maxMarkdown {
		m.line("<details><summary>Changes to outputs</summary>\n\n%s\n\n</details>", fenced(diffLines(changes)))
	}
	return nil
}

// fold is one change that unfolds.
func (m *markdown) fold(c plan.Change, shown string) string {
	summary := fmt.Sprintf("<code>%s</code>: %s, %s", c.Addr, actionWord(c), c.Class)
	if c.Reason != "" {
		summary += ", " + escape(c.Reason)
	}
	return fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n\n</details>\n", summary, fenced(diffLines(strings.TrimRight(shown, "\n"))))
}

// diffLines moves the symbols of lines to their beginning, where viewers of differences look for them; an update is "!" there.
func diffLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		body := strings.TrimLeft(l, " ")
		indent := len(l) - len(body)
		if indent == 0 || len(body) < 2 || body[1] != ' ' && !strings.HasPrefix(body, "-/+") && !strings.HasPrefix(body, "+/-") {
			continue
		}
		switch body[0] {
		case '+', '-':
			lines[i] = body[:1] + strings.Repeat(" ", indent) + body[1:]
		case '~':
			lines[i] = "!" + strings.Repeat(" ", indent) + body[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// fenced puts text into a code block whose fence is longer than any row of backticks inside.
func fenced(s string) string {
	fence := "```"
	for _, run := range regexp.MustCompile("`{3,}").FindAllString(s, -1) {
		if len(run) >= len(fence) {
			fence = strings.Repeat("`", len(run)+1)
		}
	}
	return fence + "diff\n" + s + "\n" + fence
}

// escape makes text of the user plain in Markdown, also inside of a table: nothing in it is markup, a link or a mention.
func escape(s string) string {
	var b strings.Builder
	for _, r := range flat(s) {
		switch {
		case r == '@': // would notify people
			b.WriteString("@\u200b")
		case strings.ContainsRune("\\`*_{}[]()<>|#!~&", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
