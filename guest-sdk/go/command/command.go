// Keeps files that a tool generates from being written by hand.
//
// What happens stands in the environment. To exit with 0 lets it pass, with 2 blocks it for the reason on stderr. Every other
// exit code blocks as well: what goes wrong here lets nothing through. A panic exits with 2.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// What settings may say in `config`. A key that is not here is a mistake, and a guard does not overlook it.
type config struct {
	Endings []string `json:"endings"`
}

func main() {
	rules := config{Endings: []string{".lock"}}
	decoder := json.NewDecoder(strings.NewReader(os.Getenv("HOOK_CONFIG")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&rules); err != nil {
		fmt.Fprintln(os.Stderr, "the config is not as expected:", err)
		os.Exit(1)
	}
	path, named := os.LookupEnv("HOOK_FILE_PATH")
	for _, ending := range rules.Endings {
		if named && strings.HasSuffix(path, ending) {
			fmt.Fprintf(os.Stderr, "`%s` is written by its tool alone\n", path)
			os.Exit(2)
		}
	}
}
