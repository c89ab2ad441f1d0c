// Runs programs of Untyped Plutus Core on plutigo's machine, for tests. It reads JSON objects, one a line: rules ("language", "major",
// "costs"), and programs with the place of their rules among those read before ("rules", "flat", "steps", "memory"). For each program
// it prints a line: "result", "steps" and "memory", or the "failure".
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/blinklabs-io/plutigo/builtin"
	"github.com/blinklabs-io/plutigo/cek"
	"github.com/blinklabs-io/plutigo/lang"
	"github.com/blinklabs-io/plutigo/syn"
)

type line struct {
	Language int     `json:"language"`
	Major    uint    `json:"major"`
	Costs    []int64 `json:"costs"`
	Rules    int     `json:"rules"`
	Flat     string  `json:"flat"`
	Steps    int64   `json:"steps"`
	Memory   int64   `json:"memory"`
}

type rules struct {
	version lang.LanguageVersion
	plutus  builtin.PlutusVersion
	context *cek.EvalContext
}

var versions = map[int]lang.LanguageVersion{
	1: lang.LanguageVersionV1,
	2: lang.LanguageVersionV2,
	3: lang.LanguageVersionV3,
}

func read(one line) rules {
	version := versions[one.Language]
	context, err := cek.NewEvalContext(version, cek.ProtoVersion{Major: one.Major}, one.Costs)
	if err != nil {
		panic(err)
	}
	return rules{version, builtin.PlutusVersion(one.Language), context}
}

func run(one line, by rules) (verdict map[string]any) {
	defer func() {
		if trouble := recover(); trouble != nil {
			verdict = map[string]any{"failure": fmt.Sprint("panic: ", trouble)}
		}
	}()
	flat, err := hex.DecodeString(one.Flat)
	if err != nil {
		panic(err)
	}
	program, err := syn.Decode[syn.DeBruijn](flat)
	if err != nil {
		return map[string]any{"failure": "decoding: " + err.Error()}
	}
	limit := cek.ExBudget{Mem: one.Memory, Cpu: one.Steps}
	machine := cek.NewMachine[syn.DeBruijn](by.version, 200, by.context)
	machine.ExBudget = limit
	result, err := machine.Run(program.Term)
	if err != nil {
		return map[string]any{"failure": err.Error()}
	}
	spent := limit.Sub(&machine.ExBudget)
	return map[string]any{"result": showTerm(result), "steps": spent.Cpu, "memory": spent.Mem}
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(in)
	var known []rules
	for decoder.More() {
		var one line
		if err := decoder.Decode(&one); err != nil {
			panic(err)
		}
		if one.Costs != nil {
			known = append(known, read(one))
			continue
		}
		_ = encoder.Encode(run(one, known[one.Rules]))
		// what was found is not lost where a program ends the process
		out.Flush()
	}
}
