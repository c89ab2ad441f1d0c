package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/blinklabs-io/gouroboros/ledger"
	lcommon "github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/ledger/conway"
	"github.com/blinklabs-io/gouroboros/protocol/localtxsubmission"
)

// Blocks are read, not judged: a devnet does not sign them.
var verification = lcommon.VerifyConfig{SkipBodyHashValidation: false}

// A rejection as the node told it.
type rejection struct{ reason []byte }

func (e rejection) Error() string                { return "refused" }
func (e rejection) MarshalCBOR() ([]byte, error) { return e.reason, nil }

// submit judges a transaction by gouroboros' rules, hands it to the node, and tells both verdicts.
func (r *relay) submit(_ localtxsubmission.CallbackContext, sent localtxsubmission.MsgSubmitTxTransaction) error {
	raw, ok := sent.Raw.Content.([]byte)
	if !ok {
		return errors.New("no bytes under the tag")
	}
	hash, judged := r.judge(uint(sent.EraId), raw)
	line := map[string]any{"event": "verdict", "hash": hash, "bytes": len(raw)}
	if judged != nil {
		line["gouroboros"] = judged.Error()
	}
	err := r.up.LocalTxSubmission().Client.SubmitTx(sent.EraId, raw)
	var refused localtxsubmission.TransactionRejectedError
	var pointer *localtxsubmission.TransactionRejectedError
	if errors.As(err, &pointer) {
		refused = *pointer
	}
	if pointer != nil || errors.As(err, &refused) {
		line["node"] = hex.EncodeToString(refused.ReasonCbor)
		if refused.Reason != nil {
			line["reason"] = refused.Reason.Error()
		}
		r.report.say(line)
		return rejection{refused.ReasonCbor}
	}
	r.report.say(line)
	return err
}

func (r *relay) judge(era uint, raw []byte) (hash string, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	transaction, err := ledger.NewTransactionFromCbor(era, raw)
	if err != nil {
		return "", err
	}
	hash = transaction.Hash().String()
	// a connection of its own: the client may hold another state
	conn, err := ouroborosDial(r)
	if err != nil {
		return hash, err
	}
	defer conn.Close()
	client := conn.LocalStateQuery().Client
	if err := client.AcquireVolatileTip(); err != nil {
		return hash, err
	}
	state := &view{outputs: map[string]lcommon.Utxo{}}
	inputs := append(append(append([]lcommon.TransactionInput{}, transaction.Inputs()...),
		transaction.ReferenceInputs()...), transaction.Collateral()...)
	found, err := client.GetUTxOByTxIn(inputs)
	if err != nil {
		return hash, err
	}
	for id, output := range found.Results {
		state.outputs[fmt.Sprintf("%x#%d", id.Hash.Bytes(), id.Idx)] = lcommon.Utxo{Output: &output}
	}
	if err := state.overlay(conn.LocalTxMonitor().Client); err != nil {
		return hash, err
	}
	genesis, err := client.GetGenesisConfig()
	if err != nil {
		return hash, err
	}
	start := genesis.Start
	day := time.Date(int(start.Year.Int64()), time.January, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, start.Day-1)
	picoseconds := start.Picoseconds
	state.start = day.Add(time.Duration(picoseconds.Int64() / 1000))
	state.slot = time.Duration(genesis.SlotLength) * time.Microsecond
	parameters, err := client.GetCurrentProtocolParams()
	if err != nil {
		return hash, err
	}
	point, err := client.GetChainPoint()
	if err != nil {
		return hash, err
	}
	return hash, lcommon.VerifyTransaction(transaction, point.Slot, state, parameters, conway.UtxoValidationRules)
}
