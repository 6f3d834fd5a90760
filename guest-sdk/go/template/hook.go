// Keeps files that a tool generates from being written by hand.
package main

import (
	"fmt"
	"strings"

	"tacklebox"
)

// What settings may say in `config`. A key that is not here is an error, and an error on a gate blocks.
type config struct {
	Endings []string `json:"endings"`
}

func init() {
	tacklebox.Register(tacklebox.Plugin{
		Name:        "plugin-name",
		Version:     "0.1.0",
		Description: "Keeps files that a tool generates from being written by hand.",
		Hooks:       []tacklebox.Hook{{Event: tacklebox.PreToolUse, Name: "plugin-name", Matcher: "write|edit"}},
		Run:         run,
	})
}

// Go wants one; the host calls run.
func main() {}

func run(input *tacklebox.Input, _ *tacklebox.Context) (tacklebox.Answer, error) {
	rules := config{Endings: []string{".lock"}}
	if err := tacklebox.Config(&rules); err != nil {
		return tacklebox.Answer{}, err
	}
	path, _ := input.Path()
	for _, ending := range rules.Endings {
		if strings.HasSuffix(path, ending) {
			return tacklebox.Block(fmt.Sprintf("`%s` is written by its tool alone", path)), nil
		}
	}
	return tacklebox.Continue(), nil
}
