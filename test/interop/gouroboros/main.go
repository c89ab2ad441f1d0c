// A relay between two node-to-client sockets, for tests: what comes from one side is decoded by gouroboros, and encoded anew for the
// other. Towards the node it is a client, towards the client a node. Each transaction handed over is also judged by gouroboros' rules
// of the Conway ledger, its scripts included; the node's own verdict is what the client hears.
//
// It prints one JSON object a line: "ready", "block", "verdict", "closed".
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"sync"
)

type reporter struct {
	lock sync.Mutex
	out  *json.Encoder
}

func (r *reporter) say(line map[string]any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	_ = r.out.Encode(line)
}

func main() {
	upstream := flag.String("node", "", "socket of the node")
	at := flag.String("socket", "", "socket to serve")
	magic := flag.Uint("magic", 42, "magic of the network")
	flag.Parse()
	report := &reporter{out: json.NewEncoder(os.Stdout)}
	listener, err := net.Listen("unix", *at)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	report.say(map[string]any{"event": "ready"})
	for {
		accepted, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go func() {
			err := (&relay{node: *upstream, magic: uint32(*magic), report: report}).serve(accepted)
			why := "ended"
			if err != nil && !errors.Is(err, net.ErrClosed) {
				why = err.Error()
			}
			report.say(map[string]any{"event": "closed", "why": why})
		}()
	}
}
