package tacklebox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tacklebox/bindings/tacklebox_hooks_config"
	"tacklebox/bindings/tacklebox_hooks_types"

	witTypes "go.bytecodealliance.org/pkg/wit/types"
)

// Input is what the hook is asked about.
type Input struct {
	Event Event
	// Hook is the name this hook is registered under.
	Hook string
	// Tool is the tool's name; on an event without a tool, the event's.
	Tool string
	// JSON is the text of an object: the tool's arguments, or the event's payload.
	JSON string
	// Output is what the tool printed, or why it failed; nil where the event has none.
	Output *string

	value any
	read  bool
}

// Context is where and when it happens. What the host does not know is nil.
type Context struct {
	// Dispatch is unique for this event; all its hooks see the same.
	Dispatch string
	Session  string
	// RootSession is that at the root of this agent's tree.
	RootSession                       string
	Turn                              uint32
	Cwd, Project                      *string
	AgentID, AgentType, ParentAgentID *string
	// AgentDepth is 0 in the main agent, 1 in its sub-agents, and so on.
	AgentDepth uint32
	ToolUseID  *string
	// Attempt counts Stop within one turn: 1, 2, ..
	Attempt *uint32
	// Recheck: this input is another hook's rewrite; a block counts, a rewrite does not.
	Recheck bool
	// OriginalInput is the text of the arguments as the model gave them, after a tool ran.
	OriginalInput *string
	// ChangedBy are the hooks that changed them.
	ChangedBy []string
	// Extra is the text of an object: `commands` and `parsed`, on tools with a command argument.
	Extra string
}

// Get is the value at a path: a string names a key, an int the element of a list from 0; nil where there is nothing.
// It panics where the input is no JSON, which is no answer.
func (i *Input) Get(path ...any) any {
	if !i.read {
		value, err := Parse(i.JSON)
		if err != nil {
			panic(fmt.Errorf("the input: %w", err))
		}
		i.value, i.read = value, true
	}
	return At(i.value, path...)
}

// String is the string at a path, and whether one is there.
func (i *Input) String(path ...any) (string, bool) {
	text, ok := i.Get(path...).(string)
	return text, ok
}

// Path is the path that a tool works on: the first string of `file_path`, `filePath` and `path`.
func (i *Input) Path() (string, bool) {
	for _, key := range []string{"file_path", "filePath", "path"} {
		if path, ok := i.String(key); ok {
			return path, true
		}
	}
	return "", false
}

// Parse reads a JSON text: objects are map[string]any, lists []any, numbers json.Number, which keeps them as they came.
// Keys are told apart by case, which json.Unmarshal into a struct does not do: a guard that reads a struct sees the last of
// `path` and `PATH`.
func Parse(text string) (any, error) {
	var value any
	err := decode(text, false, &value)
	return value, err
}

// At is the value at a path, as Input.Get has it.
func At(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step < 0 || step >= len(list) {
				return nil
			}
			value = list[step]
		default:
			panic(fmt.Sprintf("a path is made of strings and ints, not of %T", step))
		}
	}
	return value
}

// ConfigText is what the user configured for this hook, the text of an object; `{}` where there is nothing.
func ConfigText() string { return tacklebox_hooks_config.Get() }

// Config reads it into a struct. A key that the struct does not have is an error, so that a misspelt rule does not go unseen.
func Config(into any) error {
	if err := decode(ConfigText(), true, into); err != nil {
		return fmt.Errorf("the config: %w", err)
	}
	return nil
}

func decode(text string, strict bool, into any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("more than one JSON value")
	}
	return nil
}

// Without Go's escapes for the web: what is written is read by people, too.
func encode(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func inputOf(input tacklebox_hooks_types.HookInput) *Input {
	return &Input{
		Event: Event(input.Event), Hook: input.Hook, Tool: input.ToolName, JSON: input.ToolInput, Output: optional(input.ToolOutput),
	}
}

func contextOf(context tacklebox_hooks_types.HookContext) *Context {
	return &Context{
		Dispatch: context.DispatchId, Session: context.SessionId, RootSession: context.RootSessionId, Turn: context.Turn,
		Cwd: optional(context.Cwd), Project: optional(context.ProjectDir),
		AgentID: optional(context.AgentId), AgentType: optional(context.AgentType),
		ParentAgentID: optional(context.ParentAgentId), AgentDepth: context.AgentDepth, ToolUseID: optional(context.ToolUseId),
		Attempt: optional(context.Attempt), Recheck: context.Recheck, OriginalInput: optional(context.OriginalInput),
		ChangedBy: context.ChangedBy, Extra: context.Extra,
	}
}

func optional[T any](option witTypes.Option[T]) *T {
	value, ok := option.Get()
	if !ok {
		return nil
	}
	return &value
}
