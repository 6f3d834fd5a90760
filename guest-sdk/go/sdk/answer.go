package tacklebox

import (
	"errors"
	"fmt"

	"tacklebox/bindings/tacklebox_hooks_types"

	witTypes "go.bytecodealliance.org/pkg/wit/types"
)

// Answer is what a hook says: Continue, Block or Modify. An empty Answer is none, and not Continue.
type Answer struct {
	kind    kind
	reason  string
	changes tacklebox_hooks_types.Modification
	err     error
}

type kind uint8

const (
	nothing kind = iota
	proceed
	block
	modify
)

// Permission is an answer to the question whether a tool may run.
type Permission = tacklebox_hooks_types.Permission

const (
	Allow = tacklebox_hooks_types.PermissionAllow
	Ask   = tacklebox_hooks_types.PermissionAsk
	Deny  = tacklebox_hooks_types.PermissionDeny
)

// Continue has no objection.
func Continue() Answer { return Answer{kind: proceed} }

// Block says no, and why; the model reads it.
func Block(reason string) Answer { return Answer{kind: block, reason: reason} }

// Modify changes something: add parts by the methods below. Each event takes those that it can honour.
func Modify() Answer { return Answer{kind: modify} }

// Input is an object, merged into the tool's arguments.
func (a Answer) Input(object any) Answer {
	json, err := encode(object)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("the new input: %w", err)
	}
	return a.InputText(json)
}

// InputText is the same as the text of a JSON object.
func (a Answer) InputText(json string) Answer {
	a.changes.Input = witTypes.Some(text(json))
	return a.changed()
}

// Output replaces the tool's output, or the prompt.
func (a Answer) Output(output string) Answer {
	a.changes.Output = witTypes.Some(text(output))
	return a.changed()
}

// Context is text for the model.
func (a Answer) Context(context string) Answer {
	a.changes.Context = witTypes.Some(text(context))
	return a.changed()
}

// Permission is the answer on PermissionRequest; on PreToolUse Deny blocks, Ask and Allow say what to do about a prompt.
func (a Answer) Permission(permission Permission) Answer {
	a.changes.Permission = witTypes.Some(permission)
	return a.changed()
}

func (a Answer) changed() Answer {
	if a.kind != modify && a.err == nil {
		a.err = errors.New("only an answer of Modify has parts")
	}
	return a
}

func (a Answer) result() (tacklebox_hooks_types.HookResult, error) {
	switch {
	case a.err != nil:
		return tacklebox_hooks_types.HookResult{}, a.err
	case a.kind == proceed:
		return tacklebox_hooks_types.MakeHookResultContinue(), nil
	case a.kind == block:
		return tacklebox_hooks_types.MakeHookResultBlock(text(a.reason)), nil
	case a.kind == modify:
		return tacklebox_hooks_types.MakeHookResultModify(a.changes), nil
	default:
		return tacklebox_hooks_types.HookResult{}, errors.New("an empty Answer is none: return Continue(), Block(..) or Modify()")
	}
}
