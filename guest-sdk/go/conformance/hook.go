// The conformance plugin in Go: does what a command says, as guest-sdk/conformance/README.md has it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tacklebox"
	"tacklebox/bindings/tacklebox_hooks_process"
	"tacklebox/bindings/tacklebox_hooks_state"
)

var events = []tacklebox.Event{
	tacklebox.PreToolUse, tacklebox.PermissionRequest, tacklebox.PostToolUse, tacklebox.PostToolUseFailure,
	tacklebox.UserPromptSubmit, tacklebox.SessionStart, tacklebox.SessionEnd, tacklebox.Stop, tacklebox.TurnStart,
	tacklebox.TurnEnd, tacklebox.PreCompact, tacklebox.PostCompact, tacklebox.SubagentStart, tacklebox.SubagentStop,
	tacklebox.Notification,
}

func init() {
	plugin := tacklebox.Plugin{Name: "conformance", Version: "1.2.3", Description: "does what it is told", Run: run}
	for _, event := range events {
		hook := tacklebox.Hook{Event: event, Name: "conformance"}
		if event == tacklebox.PermissionRequest {
			hook.Matcher, hook.If, hook.TimeoutMs, hook.Once = "bash|edit", "bash(git *)", 2500, true
			hook.OnError = tacklebox.OnErrorPass
		}
		plugin.Hooks = append(plugin.Hooks, hook)
	}
	tacklebox.Register(plugin)
}

func main() {}

type object = map[string]any

// What one call is about.
type call struct {
	input   *tacklebox.Input
	context *tacklebox.Context
	config  any
	command any
}

func (c call) text(key string) string { return textOf(tacklebox.At(c.command, key)) }

func (c call) number(key string) int {
	number, _ := tacklebox.At(c.command, key).(json.Number)
	value, _ := strconv.Atoi(number.String())
	return value
}

func (c call) list(key string) []any {
	list, _ := tacklebox.At(c.command, key).([]any)
	return list
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

func run(input *tacklebox.Input, context *tacklebox.Context) (tacklebox.Answer, error) {
	config, err := tacklebox.Parse(tacklebox.ConfigText())
	if err != nil {
		return tacklebox.Answer{}, err
	}
	c := call{input, context, config, config}
	if tacklebox.At(config, "do") == nil {
		c.command = input.Get()
	}
	switch word := c.text("do"); word {
	case "continue":
		return tacklebox.Continue(), nil
	case "block":
		return tacklebox.Block(c.text("reason")), nil
	case "modify":
		return c.modify()
	case "error":
		return tacklebox.Answer{}, errors.New(c.text("text"))
	case "trap":
		panic("as I was told")
	case "spin":
		for {
		}
	case "repeat":
		return tacklebox.Modify().Output(strings.Repeat(c.text("text"), c.number("times"))), nil
	case "text":
		return c.of(c.text("of"))
	case "get":
		return answer(object{"found": input.Get(steps(c.list("path"))...)}, nil)
	case "echo":
		return answer(c.echo())
	case "log":
		return c.log()
	case "state":
		return answer(c.state())
	case "fill":
		return answer(c.fill(), nil)
	case "process":
		return answer(c.process(), nil)
	default:
		return tacklebox.Answer{}, fmt.Errorf("unknown command: %s", word)
	}
}

func answer(value object, err error) (tacklebox.Answer, error) {
	return tacklebox.Modify().Input(value), err
}

func (c call) modify() (tacklebox.Answer, error) {
	answer := tacklebox.Modify()
	for key, value := range c.command.(object) {
		switch key {
		case "input":
			answer = answer.Input(value)
		case "inputText":
			answer = answer.InputText(textOf(value))
		case "output":
			answer = answer.Output(textOf(value))
		case "context":
			answer = answer.Context(textOf(value))
		case "permission":
			permissions := map[string]tacklebox.Permission{"allow": tacklebox.Allow, "ask": tacklebox.Ask, "deny": tacklebox.Deny}
			permission, ok := permissions[textOf(value)]
			if !ok {
				return answer, fmt.Errorf("unknown permission: %v", value)
			}
			answer = answer.Permission(permission)
		}
	}
	return answer, nil
}

func (c call) of(name string) (tacklebox.Answer, error) {
	texts := map[string]*string{
		"input": &c.input.JSON, "output": c.input.Output, "extra": &c.context.Extra, "originalInput": c.context.OriginalInput,
	}
	text, ok := texts[name]
	if !ok {
		return tacklebox.Answer{}, fmt.Errorf("unknown text: %s", name)
	}
	if text == nil {
		return tacklebox.Modify().Output(""), nil
	}
	return tacklebox.Modify().Output(*text), nil
}

// Numbers of a path are indices.
func steps(path []any) []any {
	var steps []any
	for _, step := range path {
		if number, ok := step.(json.Number); ok {
			index, _ := strconv.Atoi(number.String())
			steps = append(steps, index)
		} else {
			steps = append(steps, step)
		}
	}
	return steps
}

func (c call) echo() (object, error) {
	out := object{}
	for _, part := range c.list("parts") {
		value, err := c.part(textOf(part))
		if err != nil {
			return nil, err
		}
		out[textOf(part)] = value
	}
	return out, nil
}

func (c call) part(name string) (any, error) {
	input, cx := c.input, c.context
	switch name {
	case "event":
		return input.Event, nil
	case "hook":
		return input.Hook, nil
	case "tool":
		return input.Tool, nil
	case "input":
		return input.Get(), nil
	case "output":
		return input.Output, nil
	case "config":
		return c.config, nil
	case "dispatch":
		return cx.Dispatch != "", nil
	case "session":
		return cx.Session, nil
	case "rootSession":
		return cx.RootSession, nil
	case "turn":
		return cx.Turn, nil
	case "cwd":
		return cx.Cwd, nil
	case "project":
		return cx.Project, nil
	case "agentId":
		return cx.AgentID, nil
	case "agentType":
		return cx.AgentType, nil
	case "parentAgentId":
		return cx.ParentAgentID, nil
	case "agentDepth":
		return cx.AgentDepth, nil
	case "toolUseId":
		return cx.ToolUseID, nil
	case "attempt":
		return cx.Attempt, nil
	case "recheck":
		return cx.Recheck, nil
	case "originalInput":
		if cx.OriginalInput == nil {
			return nil, nil
		}
		return tacklebox.Parse(*cx.OriginalInput)
	case "changedBy":
		return cx.ChangedBy, nil
	case "extra":
		return tacklebox.Parse(cx.Extra)
	default:
		return nil, fmt.Errorf("unknown part: %s", name)
	}
}

func (c call) log() (tacklebox.Answer, error) {
	levels := map[string]tacklebox.Level{
		"trace": tacklebox.Trace, "debug": tacklebox.Debug, "info": tacklebox.Info, "warn": tacklebox.Warn, "error": tacklebox.Error,
	}
	for _, line := range c.list("lines") {
		tacklebox.Log(levels[textOf(tacklebox.At(line, 0))], textOf(tacklebox.At(line, 1)))
	}
	return tacklebox.Continue(), nil
}

func (c call) state() (object, error) {
	results := []any{}
	for _, step := range c.list("steps") {
		result, err := stateStep(step)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return object{"results": results}, nil
}

func stateStep(step any) (any, error) {
	key, text := textOf(tacklebox.At(step, 1)), textOf(tacklebox.At(step, 2))
	switch what := textOf(tacklebox.At(step, 0)); what {
	case "get":
		if value, ok := tacklebox_hooks_state.Get(key).Get(); ok {
			return string(value), nil
		}
		return nil, nil
	case "getBytes":
		value, ok := tacklebox_hooks_state.Get(key).Get()
		if !ok {
			return nil, nil
		}
		numbers := []int{}
		for _, byte := range value {
			numbers = append(numbers, int(byte))
		}
		return numbers, nil
	case "set":
		return set(key, []byte(text)), nil
	case "setBytes":
		var bytes []byte
		numbers, _ := tacklebox.At(step, 2).([]any)
		for _, number := range numbers {
			value, _ := number.(json.Number).Int64()
			bytes = append(bytes, byte(value))
		}
		return set(key, bytes), nil
	case "remove":
		tacklebox_hooks_state.Remove(key)
		return "ok", nil
	case "add":
		delta, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		sum := tacklebox_hooks_state.Add(key, delta)
		if sum.IsErr() {
			return refusal(sum.Err()), nil
		}
		return strconv.FormatInt(sum.Ok(), 10), nil
	default:
		return nil, fmt.Errorf("unknown step: %s", what)
	}
}

func set(key string, value []byte) any {
	if result := tacklebox_hooks_state.Set(key, value); result.IsErr() {
		return refusal(result.Err())
	}
	return "ok"
}

func refusal(err tacklebox_hooks_state.Error) any {
	if err.Tag() == tacklebox_hooks_state.ErrorTooLarge {
		return object{"tooLarge": err.TooLarge()}
	}
	return object{"full": err.Full()}
}

func (c call) fill() object {
	value := []byte(strings.Repeat("x", c.number("bytes")))
	for stored := range c.number("count") {
		if result := set(c.text("prefix")+strconv.Itoa(stored), value); result != "ok" {
			return object{"stored": stored, "error": result}
		}
	}
	return object{"stored": c.number("count"), "error": nil}
}

func (c call) process() object {
	program := c.text("program")
	var args []string
	for _, arg := range c.list("args") {
		args = append(args, textOf(arg))
	}
	available := tacklebox_hooks_process.Available(program)
	result := tacklebox_hooks_process.Run(program, args, []byte(c.text("stdin")))
	if result.IsErr() {
		return object{"available": available, "result": failure(result.Err())}
	}
	output := result.Ok()
	var code *int32
	if value, ok := output.ExitCode.Get(); ok {
		code = &value
	}
	return object{"available": available, "result": object{
		"exitCode": code, "stdout": string(output.Stdout), "stderr": string(output.Stderr),
	}}
}

func failure(err tacklebox_hooks_process.Error) any {
	switch err.Tag() {
	case tacklebox_hooks_process.ErrorDenied:
		return "denied"
	case tacklebox_hooks_process.ErrorNotFound:
		return "notFound"
	case tacklebox_hooks_process.ErrorTimedOut:
		return "timedOut"
	default:
		return object{"failed": err.Failed()}
	}
}
