// Package export_tacklebox_hooks_callback is where the generated exports look for the plugin: its name is theirs to choose.
package export_tacklebox_hooks_callback

import (
	"tacklebox/bindings/tacklebox_hooks_types"

	witTypes "go.bytecodealliance.org/pkg/wit/types"
)

// What the package tacklebox does for the plugin that was registered.
var (
	OnDescribe func() tacklebox_hooks_types.PluginInfo
	OnRun      func(tacklebox_hooks_types.HookInput, tacklebox_hooks_types.HookContext) (tacklebox_hooks_types.HookResult, error)
)

// Describe says what the plugin is.
func Describe() tacklebox_hooks_types.PluginInfo { return OnDescribe() }

// Run answers.
func Run(input tacklebox_hooks_types.HookInput, context tacklebox_hooks_types.HookContext) witTypes.Result[tacklebox_hooks_types.HookResult, string] {
	result, err := OnRun(input, context)
	if err != nil {
		return witTypes.Err[tacklebox_hooks_types.HookResult, string](err.Error())
	}
	return witTypes.Ok[tacklebox_hooks_types.HookResult, string](result)
}
