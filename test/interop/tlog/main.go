// Readers and a witness of transparency logs by others: torchwood (c2sp.org's author) verifies checkpoints, tiles, entries and
// proofs and requests signatures; transparency-dev's witness signs.
//
//	tlog-peer read LOG-URL POLICY-FILE: prints the entries of the log, each verified against the checkpoint
//	tlog-peer proof POLICY-FILE PROOF-FILE: verifies a proof of its extra data
//	tlog-peer submit LOG-URL LOG-VKEY WITNESS-URL WITNESS-VKEY OLD-SIZE: requests a signature, prints the cosigned checkpoint
//	tlog-peer witness LOG-VKEY NAME: is a witness, prints its key and address, until its standard input ends
package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"filippo.io/torchwood"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func fetch(url string) []byte {
	response := must(http.Get(url))
	defer response.Body.Close()
	body := must(io.ReadAll(response.Body))
	if response.StatusCode != 200 {
		must(0, fmt.Errorf("%s: %d %s", url, response.StatusCode, body))
	}
	return body
}

func read(base string, policyFile string) {
	policy := must(torchwood.ParsePolicy(must(os.ReadFile(policyFile))))
	checkpoint, signed, err := torchwood.VerifyCheckpoint(fetch(base+"/checkpoint"), policy)
	must(0, err)
	fetcher := must(torchwood.NewTileFetcher(base))
	client := must(torchwood.NewClient(fetcher))
	entries := []string{}
	for _, entry := range client.AllEntries(context.Background(), checkpoint.Tree, 0) {
		entries = append(entries, string(entry))
	}
	must(0, client.Err())
	signers := []string{}
	for _, signature := range signed.Sigs {
		signers = append(signers, signature.Name)
	}
	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"origin": checkpoint.Origin, "size": checkpoint.N, "entries": entries, "signers": signers,
	}))
}

func proof(policyFile string, proofFile string) {
	policy := must(torchwood.ParsePolicy(must(os.ReadFile(policyFile))))
	text := must(os.ReadFile(proofFile))
	entry := must(torchwood.ProofExtraData(text))
	must(0, torchwood.VerifyProof(policy, tlog.RecordHash(entry), text))
	if torchwood.VerifyProof(policy, tlog.RecordHash(append(entry, ' ')), text) == nil {
		must(0, fmt.Errorf("the proof is one of another entry too"))
	}
	fmt.Println(string(entry))
}

func submit(base string, logKey string, witnessURL string, witnessKey string, oldSize string) {
	log := must(note.NewVerifier(logKey))
	cosigner := must(torchwood.NewCosignatureVerifier(witnessKey))
	signed := fetch(base + "/checkpoint")
	policy := torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(log.Name()), torchwood.SingleVerifierPolicy(log))
	checkpoint, _, err := torchwood.VerifyCheckpoint(signed, policy)
	must(0, err)
	old := must(strconv.ParseInt(oldSize, 10, 64))
	body := fmt.Sprintf("old %d\n", old)
	if old > 0 && old < checkpoint.N {
		fetcher := must(torchwood.NewTileFetcher(base))
		reader := torchwood.TileHashReaderWithContext(context.Background(), checkpoint.Tree, fetcher)
		for _, hash := range must(tlog.ProveTree(checkpoint.N, old, reader)) {
			body += hash.String() + "\n"
		}
	}
	response := must(http.Post(witnessURL+"/add-checkpoint", "text/plain", strings.NewReader(body+"\n"+string(signed))))
	defer response.Body.Close()
	answer := must(io.ReadAll(response.Body))
	if response.StatusCode != 200 {
		fmt.Printf("%d %s %s", response.StatusCode, response.Header.Get("Content-Type"), answer)
		return
	}
	cosigned := append(bytes.Clone(signed), answer...)
	opened := must(note.Open(cosigned, note.VerifierList(log, cosigner)))
	if len(opened.Sigs) != 2 {
		must(0, fmt.Errorf("%d signatures are by known keys", len(opened.Sigs)))
	}
	fmt.Printf("%d %s", response.StatusCode, cosigned)
}

func serve(logKey string, name string) {
	log := must(note.NewVerifier(logKey))
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(0, err)
	signer := must(torchwood.NewCosignatureSigner(name, key))
	persistence := inmemory.New()
	signs := must(witness.New(context.Background(), witness.Opts{
		Persistence: persistence,
		Signers:     []note.Signer{signer},
		VerifierForLog: func(_ context.Context, origin string) (note.Verifier, bool, error) {
			return log, origin == log.Name(), nil
		},
	}))
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", witness.NewHTTPHandler(signs).AddCheckpoint)
	go func() { must(0, http.Serve(listener, mux)) }()
	fmt.Printf("%s http://%s\n", signer.Verifier().String(), listener.Addr())
	must(io.Copy(io.Discard, os.Stdin))
}

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 3 && args[0] == "read":
		read(args[1], args[2])
	case len(args) == 3 && args[0] == "proof":
		proof(args[1], args[2])
	case len(args) == 6 && args[0] == "submit":
		submit(args[1], args[2], args[3], args[4], args[5])
	case len(args) == 3 && args[0] == "witness":
		serve(args[1], args[2])
	default:
		must(0, fmt.Errorf("unknown arguments: %q", args))
	}
}
