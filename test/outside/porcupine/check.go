// Holds histories to the models of the documents: a file of JSON in, a line of JSON a key out.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// A call as its caller saw it. Microseconds of the caller's clock; an End of 0: it was never answered.
type call struct {
	Client int    `json:"client"`
	Ask    string `json:"ask"`
	Answer string `json:"answer"`
	ID     string `json:"id"`
	Begin  int64  `json:"begin"`
	End    int64  `json:"end"`
	// Another request may hold the key for as long as this call lasts, and let it go again.
	beside bool
}

type history struct {
	Model string `json:"model"`
	Name  string `json:"name"`
	Calls []call `json:"calls"`
}

// What a key stands for: nothing, or one request and the send that was made of it; "?" where no answer said which.
type key struct{ request, send string }

// Calls of the relay with one key (S9, MAIL-40 and those after it). Ask: which request. Answer: what it got.
func relay(state, input, output any) []any {
	is, ask, said := state.(key), input.(call).Ask, output.(call)
	isFree, isOwn := is.request == "", is.request == ask
	taken := key{ask, said.ID}
	switch said.Answer {
	case "accepted": // sent or deferred: the first one makes the send, the others are answered with the same one
		if isFree || isOwn && (is.send == said.ID || is.send == "?") {
			return []any{taken}
		}
	case "ambiguous": // nobody can say whether it left: the key stays with its request
		if isFree || isOwn && is.send == "?" {
			return []any{key{ask, "?"}}
		}
	case "unsent": // proven: the key stays as free as it was, and a send that was accepted is never unsaid
		if isFree {
			return []any{is}
		}
	case "conflict": // another request has the key, or has it while it is under way
		if !isFree && !isOwn || input.(call).beside {
			return []any{is}
		}
	case "busy": // a call is under way, or the database is away: nothing was sent by this one
		return []any{is}
	case "none": // never answered: it may have been carried out or not
		if isFree {
			return []any{is, key{ask, "?"}}
		}
		return []any{is}
	}
	return nil
}

var ranks = map[string]int{"deferred": 1, "sent": 2, "delivery_delayed": 3, "delivered": 4, "opened": 5, "clicked": 6,
	"suppressed": 100, "failed": 100, "bounced": 100, "complained": 100}

// The status of a mail (L2, EVENT-10). Ask "read": Answer is what was read; else an event: "told", or "none".
func status(state, input, output any) []any {
	is, ask, said := state.(string), input.(call).Ask, output.(call).Answer
	if ask == "read" {
		if is == said {
			return []any{is}
		}
		return nil
	}
	next := is
	if ranks[ask] > ranks[is] {
		next = ask
	}
	if said == "none" {
		return []any{is, next}
	}
	return []any{next}
}

var models = map[string]porcupine.NondeterministicModel{
	"relay":  {Init: func() []any { return []any{key{}} }, Step: relay},
	"status": {Init: func() []any { return []any{"sent"} }, Step: status},
}

// Whether a call with another request, of which nothing stays, was under way at the same time and held the key.
func isBeside(one call, all []call) bool {
	for _, other := range all {
		isOver := other.End != 0 && other.End < one.Begin
		isLater := one.End != 0 && other.Begin > one.End
		holds := other.Answer == "unsent" || other.Answer == "none"
		if other.Ask != one.Ask && holds && !isOver && !isLater {
			return true
		}
	}
	return false
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var histories []history
	if err := json.Unmarshal(text, &histories); err != nil {
		panic(err)
	}
	for _, one := range histories {
		operations := []porcupine.Operation{}
		for _, call := range one.Calls {
			call.beside = isBeside(call, one.Calls)
			end := call.End
			if end == 0 {
				end = math.MaxInt64
			}
			operations = append(operations, porcupine.Operation{ClientId: call.Client, Input: call, Call: call.Begin, Output: call, Return: end})
		}
		nondeterministic := models[one.Model]
		model := nondeterministic.ToModel()
		result := porcupine.CheckOperationsTimeout(model, operations, time.Minute)
		line, _ := json.Marshal(map[string]any{"model": one.Model, "name": one.Name, "result": fmt.Sprint(result)})
		fmt.Println(string(line))
	}
}
