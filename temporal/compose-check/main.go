// Reads temporal/docker-compose.yml as Docker Compose does, and its server's settings as Temporal's server does, and
// prints what they come to as JSON. A test compares that with what Servo needs; nothing is started.
//
//	compose-check project FILE           the project, checked with the specification's schema, defaults filled in
//	compose-check server FILE KEY...     the server's configuration from this environment, the dynamic configuration
//	                                     from FILE, and which of the keys the server does not read
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"

	"github.com/compose-spec/compose-go/v2/cli"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"gopkg.in/yaml.v3"
)

func main() {
	log.SetOutput(io.Discard) // the server's loader says what it does
	answer, err := run(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) (any, error) {
	switch {
	case len(args) == 2 && args[0] == "project":
		return project(args[1])
	case len(args) >= 2 && args[0] == "server":
		return server(args[1], args[2:])
	}
	return nil, fmt.Errorf("usage: compose-check project FILE, or compose-check server FILE KEY...")
}

func project(file string) (any, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv, cli.WithNormalization(true), cli.WithConsistency(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

type serverAnswer struct {
	Config   any      `json:"config"`
	Dynamic  []string `json:"dynamic_keys"`
	Warnings []string `json:"dynamic_warnings"`
	Unread   []string `json:"unread"`
}

func server(dynamicFile string, keys []string) (any, error) {
	configured, err := load()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(dynamicFile)
	if err != nil {
		return nil, err
	}
	loaded := dynamicconfig.LoadYamlFile(text)
	if err := loaded.Err(); err != nil {
		return nil, err
	}
	answer := serverAnswer{Config: configured, Dynamic: []string{}, Warnings: []string{}, Unread: []string{}}
	for key := range loaded.Map {
		answer.Dynamic = append(answer.Dynamic, key.String())
	}
	for _, warning := range loaded.Warnings {
		answer.Warnings = append(answer.Warnings, warning.Error())
	}
	for _, key := range keys {
		if !isRead(key) {
			answer.Unread = append(answer.Unread, key)
		}
	}
	return answer, nil
}

// The image's server is configured by its environment alone, through this template.
func load() (any, error) {
	loaded, err := config.Load(config.WithEmbedded())
	if err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(loaded)
	if err != nil {
		return nil, err
	}
	var plain any
	return plain, yaml.Unmarshal(text, &plain)
}

// A variable is read if another value changes the configuration, or breaks it.
func isRead(key string) bool {
	before, wasSet := os.LookupEnv(key)
	defer func() {
		if wasSet {
			os.Setenv(key, before)
		} else {
			os.Unsetenv(key)
		}
	}()
	os.Unsetenv(key)
	without, withoutErr := load()
	os.Setenv(key, "7")
	with, withErr := load()
	return (withoutErr == nil) != (withErr == nil) || !reflect.DeepEqual(without, with)
}
