package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/blinklabs-io/gouroboros/ledger"
	lcommon "github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/protocol/localtxmonitor"
)

// What gouroboros' rules ask of a ledger: outputs and time. Of stake, pools and governance it has nothing (`empty.go`), so that only
// transactions without them are judged as the node would.
type view struct {
	empty
	outputs map[string]lcommon.Utxo
	start   time.Time
	slot    time.Duration
}

// overlay adds what waiting transactions create.
func (v *view) overlay(client *localtxmonitor.Client) error {
	if err := client.Acquire(); err != nil {
		return err
	}
	for {
		raw, err := client.NextTx()
		if err != nil {
			return err
		}
		if raw == nil {
			return client.Release()
		}
		transaction, err := ledger.NewTransactionFromCbor(ledger.TxTypeConway, raw)
		if err != nil {
			return err
		}
		for _, made := range transaction.Produced() {
			v.outputs[made.Id.String()] = made
		}
	}
}

func (v *view) UtxoById(input lcommon.TransactionInput) (lcommon.Utxo, error) {
	found, ok := v.outputs[fmt.Sprintf("%x#%d", input.Id().Bytes(), input.Index())]
	if !ok {
		return lcommon.Utxo{}, errors.New("no such output")
	}
	found.Id = input
	return found, nil
}

func (v *view) NetworkId() uint { return 0 }

func (v *view) SlotToTime(slot uint64) (time.Time, error) {
	return v.start.Add(time.Duration(slot) * v.slot), nil
}

func (v *view) TimeToSlot(at time.Time) (uint64, error) {
	return uint64(at.Sub(v.start) / v.slot), nil
}
