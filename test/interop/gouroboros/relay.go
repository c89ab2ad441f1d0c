package main

import (
	"errors"
	"fmt"
	"net"
	"sync"

	ouroboros "github.com/blinklabs-io/gouroboros"
	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
	"github.com/blinklabs-io/gouroboros/protocol/localstatequery"
	"github.com/blinklabs-io/gouroboros/protocol/localtxmonitor"
	"github.com/blinklabs-io/gouroboros/protocol/localtxsubmission"
)

// One connection of a client, and the connections to the node that it needs.
type relay struct {
	node   string
	magic  uint32
	report *reporter

	lock  sync.Mutex
	up    *ouroboros.Connection
	chain *following
	ended chan struct{}
}

func (r *relay) serve(conn net.Conn) error {
	r.ended = make(chan struct{})
	defer close(r.ended)
	up, err := r.dial(chainsync.Config{})
	if err != nil {
		conn.Close()
		return fmt.Errorf("the node: %w", err)
	}
	defer up.Close()
	r.up = up
	defer func() {
		if r.chain != nil {
			r.chain.conn.Close()
		}
	}()
	down, err := ouroboros.NewConnection(
		ouroboros.WithConnection(conn),
		ouroboros.WithNetworkMagic(r.magic),
		ouroboros.WithServer(true),
		ouroboros.WithChainSyncConfig(chainsync.NewConfig(
			chainsync.WithFindIntersectFunc(r.intersect),
			chainsync.WithRequestNextFunc(r.next),
		)),
		ouroboros.WithLocalStateQueryConfig(localstatequery.NewConfig(
			localstatequery.WithAcquireFunc(r.acquire),
			localstatequery.WithQueryFunc(r.query),
			localstatequery.WithReleaseFunc(func(localstatequery.CallbackContext) error {
				return r.up.LocalStateQuery().Client.Release()
			}),
		)),
		ouroboros.WithLocalTxMonitorConfig(localtxmonitor.NewConfig(localtxmonitor.WithGetMempoolFunc(r.mempool))),
		ouroboros.WithLocalTxSubmissionConfig(localtxsubmission.NewConfig(localtxsubmission.WithSubmitTxFunc(r.submit))),
	)
	if err != nil {
		conn.Close()
		return fmt.Errorf("the client: %w", err)
	}
	defer down.Close()
	select {
	case err := <-down.ErrorChan():
		return wrap("the client", err)
	case err := <-up.ErrorChan():
		return wrap("the node", err)
	}
}

func wrap(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", where, err)
}

func (r *relay) dial(chain chainsync.Config) (*ouroboros.Connection, error) {
	conn, err := ouroboros.NewConnection(
		ouroboros.WithNetworkMagic(r.magic),
		ouroboros.WithChainSyncConfig(chain),
	)
	if err != nil {
		return nil, err
	}
	if err := conn.Dial("unix", r.node); err != nil {
		return nil, err
	}
	return conn, nil
}

// A chain that is followed at the node, from an intersection on.
type following struct {
	conn  *ouroboros.Connection
	steps chan step
}

type step struct {
	back      bool
	point     pcommon.Point
	blockType uint
	block     []byte
	tip       chainsync.Tip
}

// Each intersection has a connection of its own at the node, so that nothing of the one before is left on the way.
func (r *relay) intersect(
	_ chainsync.CallbackContext,
	points []pcommon.Point,
) (pcommon.Point, chainsync.Tip, error) {
	steps := make(chan step, 1)
	give := func(s step) error {
		select {
		case steps <- s:
			return nil
		case <-r.ended:
			return errors.New("the client has gone")
		}
	}
	conn, err := r.dial(chainsync.NewConfig(
		chainsync.WithRollBackwardFunc(func(_ chainsync.CallbackContext, point pcommon.Point, tip chainsync.Tip) error {
			return give(step{back: true, point: point, tip: tip})
		}),
		chainsync.WithRollForwardRawFunc(
			func(_ chainsync.CallbackContext, blockType uint, block []byte, tip chainsync.Tip) error {
				return give(step{blockType: blockType, block: block, tip: tip})
			},
		),
	))
	if err != nil {
		return pcommon.Point{}, chainsync.Tip{}, err
	}
	if err := conn.ChainSync().Client.Sync(points); err != nil {
		var tip chainsync.Tip
		if errors.Is(err, chainsync.ErrIntersectNotFound) {
			if now, tipErr := conn.ChainSync().Client.GetCurrentTip(); tipErr == nil {
				tip = *now
			}
		}
		conn.Close()
		return pcommon.Point{}, tip, err
	}
	if r.chain != nil {
		r.chain.conn.Close()
	}
	// the first step rolls back to the intersection; it is told again as the answer to the first request
	first := <-steps
	chain := &following{conn: conn, steps: make(chan step, 1)}
	chain.steps <- first
	go func() {
		for {
			select {
			case s := <-steps:
				select {
				case chain.steps <- s:
				case <-r.ended:
					return
				}
			case <-conn.ErrorChan():
				// the client is told by its connection's end
				r.up.Close()
				return
			case <-r.ended:
				return
			}
		}
	}()
	r.chain = chain
	return first.point, first.tip, nil
}

func (r *relay) next(ctx chainsync.CallbackContext) error {
	if r.chain == nil {
		if _, _, err := r.intersect(ctx, []pcommon.Point{pcommon.NewPointOrigin()}); err != nil {
			return err
		}
	}
	var s step
	select {
	case s = <-r.chain.steps:
	default:
		if err := ctx.Server.AwaitReply(); err != nil {
			return err
		}
		select {
		case s = <-r.chain.steps:
		case <-r.ended:
			return nil
		}
	}
	if s.back {
		return ctx.Server.RollBackward(s.point, s.tip)
	}
	// its body is held against its header; nobody looks at signatures here, which a devnet does not make
	block, err := ledger.NewBlockFromCbor(s.blockType, s.block)
	if err != nil {
		r.report.say(map[string]any{"event": "block", "error": err.Error()})
		return err
	}
	r.report.say(map[string]any{
		"event": "block", "slot": block.SlotNumber(), "height": block.BlockNumber(), "hash": block.Hash().String(),
		"previous": block.PrevHash().String(), "transactions": len(block.Transactions()),
	})
	return ctx.Server.RollForward(s.blockType, s.block, s.tip)
}
