// Package tacklebox is what makes a plugin in Go short: what came, as Go's values, and the three answers.
//
// A program registers its plugin while it starts, in init: main is never called. An instance lives for one call, so what has to
// last goes through tacklebox/bindings/tacklebox_hooks_state; programs outside are started through .._process.
package tacklebox

import (
	"errors"
	"fmt"
	"strings"

	"tacklebox/bindings/export_tacklebox_hooks_callback"
	"tacklebox/bindings/tacklebox_hooks_log"
	"tacklebox/bindings/tacklebox_hooks_types"
	_ "tacklebox/bindings/wit_exports"

	witTypes "go.bytecodealliance.org/pkg/wit/types"
)

// Plugin is what the plugin is, and what it does.
type Plugin struct {
	Name, Version, Description string
	Hooks                      []Hook
	// Run answers. An error, or a panic, is no answer: on a gate that blocks.
	Run func(input *Input, context *Context) (Answer, error)
}

// Hook is one registration. What is left empty is the host's default.
type Hook struct {
	Event Event
	Name  string
	// Matcher is over tools' names, as in settings: "write|edit".
	Matcher string
	// If is a condition, as in settings: "bash(git *)".
	If        string
	TimeoutMs uint32
	Once      bool
	OnError   OnError
}

// OnError is what it means on a gate that there is no answer.
type OnError uint8

const (
	// OnErrorDefault is what the host does where nothing is said: it blocks.
	OnErrorDefault OnError = iota
	OnErrorBlock
	OnErrorPass
)

// Event is the name of an event.
type Event string

const (
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	UserPromptSubmit   Event = "UserPromptSubmit"
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	Stop               Event = "Stop"
	TurnStart          Event = "TurnStart"
	TurnEnd            Event = "TurnEnd"
	PreCompact         Event = "PreCompact"
	PostCompact        Event = "PostCompact"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	Notification       Event = "Notification"
)

var plugin Plugin

// Register says which plugin this program is. Call it in init.
func Register(registered Plugin) { plugin = registered }

// Level is how much a line of the log matters.
type Level = tacklebox_hooks_log.Level

const (
	Trace = tacklebox_hooks_log.LevelTrace
	Debug = tacklebox_hooks_log.LevelDebug
	Info  = tacklebox_hooks_log.LevelInfo
	Warn  = tacklebox_hooks_log.LevelWarn
	Error = tacklebox_hooks_log.LevelError
)

// Log writes a line to the host's log.
func Log(level Level, message string) { tacklebox_hooks_log.Write(level, text(message)) }

func init() {
	export_tacklebox_hooks_callback.OnDescribe = describe
	export_tacklebox_hooks_callback.OnRun = run
}

func describe() tacklebox_hooks_types.PluginInfo {
	info := tacklebox_hooks_types.PluginInfo{
		Name: text(plugin.Name), Version: text(plugin.Version), Description: text(plugin.Description),
	}
	for _, hook := range plugin.Hooks {
		info.Hooks = append(info.Hooks, hook.registration())
	}
	return info
}

func (h Hook) registration() tacklebox_hooks_types.HookRegistration {
	registration := tacklebox_hooks_types.HookRegistration{
		Event: text(string(h.Event)), Name: text(h.Name), Matcher: some(h.Matcher), Condition: some(h.If), Once: h.Once,
	}
	if h.TimeoutMs > 0 {
		registration.TimeoutMs = witTypes.Some(h.TimeoutMs)
	}
	switch h.OnError {
	case OnErrorBlock:
		registration.OnError = witTypes.Some(tacklebox_hooks_types.FailureBlock)
	case OnErrorPass:
		registration.OnError = witTypes.Some(tacklebox_hooks_types.FailurePass)
	}
	return registration
}

func run(input tacklebox_hooks_types.HookInput, context tacklebox_hooks_types.HookContext) (result tacklebox_hooks_types.HookResult, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %s", text(fmt.Sprint(cause)))
		}
	}()
	if plugin.Run == nil {
		return result, errors.New("no plugin with a Run was registered: call tacklebox.Register in init")
	}
	answer, err := plugin.Run(inputOf(input), contextOf(context))
	if err != nil {
		return result, errors.New(text(err.Error()))
	}
	return answer.result()
}

// What goes out is UTF-8; Go's strings may be anything.
func text(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func some(value string) witTypes.Option[string] {
	if value == "" {
		return witTypes.None[string]()
	}
	return witTypes.Some(text(value))
}
