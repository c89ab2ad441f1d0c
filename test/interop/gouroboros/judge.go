package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/blinklabs-io/gouroboros/ledger"
	lcommon "github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/ledger/conway"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	"github.com/blinklabs-io/gouroboros/protocol/localtxsubmission"
)

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
	line := map[string]any{"event": "verdict", "bytes": len(raw), "redeemers": 0}
	transaction, judged := ledger.NewTransactionFromCbor(uint(sent.EraId), raw)
	if judged == nil {
		line["hash"] = transaction.Hash().String()
		if redeemers := transaction.Witnesses().Redeemers(); redeemers != nil {
			count := 0
			for range redeemers.Iter() {
				count++
			}
			line["redeemers"] = count
		}
		judged = r.judge(transaction)
	}
	if judged != nil {
		line["gouroboros"] = judged.Error()
	}
	err := r.up.LocalTxSubmission().Client.SubmitTx(sent.EraId, raw)
	var refused localtxsubmission.TransactionRejectedError
	if errors.As(err, &refused) {
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

func (r *relay) judge(transaction ledger.Transaction) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	// a connection of its own: the client may hold another state
	conn, err := r.dial(chainsync.Config{})
	if err != nil {
		return err
	}
	defer conn.Close()
	client := conn.LocalStateQuery().Client
	if err := client.AcquireVolatileTip(); err != nil {
		return err
	}
	state := &view{outputs: map[string]lcommon.Utxo{}}
	inputs := append(append(append([]lcommon.TransactionInput{}, transaction.Inputs()...),
		transaction.ReferenceInputs()...), transaction.Collateral()...)
	found, err := client.GetUTxOByTxIn(inputs)
	if err != nil {
		return err
	}
	for id, output := range found.Results {
		state.outputs[fmt.Sprintf("%x#%d", id.Hash.Bytes(), id.Idx)] = lcommon.Utxo{Output: &output}
	}
	if err := state.overlay(conn.LocalTxMonitor().Client); err != nil {
		return err
	}
	genesis, err := client.GetGenesisConfig()
	if err != nil {
		return err
	}
	start := genesis.Start
	day := time.Date(int(start.Year.Int64()), time.January, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, start.Day-1)
	picoseconds := start.Picoseconds
	state.start = day.Add(time.Duration(picoseconds.Int64() / 1000))
	state.slot = time.Duration(genesis.SlotLength) * time.Microsecond
	parameters, err := client.GetCurrentProtocolParams()
	if err != nil {
		return err
	}
	point, err := client.GetChainPoint()
	if err != nil {
		return err
	}
	return lcommon.VerifyTransaction(transaction, point.Slot, state, parameters, conway.UtxoValidationRules)
}
