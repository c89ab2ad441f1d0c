package main

import (
	"fmt"

	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/protocol/localstatequery"
	"github.com/blinklabs-io/gouroboros/protocol/localtxmonitor"
)

func (r *relay) acquire(_ localstatequery.CallbackContext, target localstatequery.AcquireTarget, _ bool) error {
	client := r.up.LocalStateQuery().Client
	switch t := target.(type) {
	case localstatequery.AcquireSpecificPoint:
		return client.Acquire(&t.Point)
	case localstatequery.AcquireImmutableTip:
		return client.AcquireImmutableTip()
	default:
		return client.AcquireVolatileTip()
	}
}

// query asks the node with gouroboros' typed client what the client asked. It knows the queries that wallets need and Dingo answers, not
// all those of gouroboros. An error ends the connection, as with any node that has no
// answer to a query.
func (r *relay) query(_ localstatequery.CallbackContext, wrapper localstatequery.QueryWrapper) (any, error) {
	client := r.up.LocalStateQuery().Client
	switch q := wrapper.Query.(type) {
	case *localstatequery.SystemStartQuery:
		return client.GetSystemStart()
	case *localstatequery.ChainPointQuery:
		return client.GetChainPoint()
	case *localstatequery.ChainBlockNoQuery:
		// gouroboros' client cannot read the height of a chain without blocks
		point, err := client.GetChainPoint()
		if err != nil {
			return nil, err
		}
		if len(point.Hash) == 0 {
			return []any{0}, nil
		}
		height, err := client.GetChainBlockNo()
		return []any{1, height}, err
	case *localstatequery.BlockQuery:
		switch q := q.Query.(type) {
		case *localstatequery.HardForkQuery:
			if _, ok := q.Query.(*localstatequery.HardForkCurrentEraQuery); ok {
				return client.GetCurrentEra()
			}
			return client.GetEraHistory()
		case *localstatequery.ShelleyQuery:
			return r.eraQuery(client, q)
		}
	}
	return nil, fmt.Errorf("unsupported query: %T", wrapper.Query)
}

func (r *relay) eraQuery(client *localstatequery.Client, query *localstatequery.ShelleyQuery) (any, error) {
	one := func(value any, err error) (any, error) { return []any{value}, err }
	switch q := query.Query.(type) {
	case *localstatequery.ShelleyEpochNoQuery:
		return one(client.GetEpochNo())
	case *localstatequery.ShelleyCurrentProtocolParamsQuery:
		return one(client.GetCurrentProtocolParams())
	case *localstatequery.ShelleyGenesisConfigQuery:
		return one(client.GetGenesisConfig())
	case *localstatequery.ShelleyUtxoByAddressQuery:
		return client.GetUTxOByAddress(q.Addrs)
	case *localstatequery.ShelleyUtxoByTxinQuery:
		inputs := make([]ledger.TransactionInput, 0, len(q.TxIns))
		for _, input := range q.TxIns {
			inputs = append(inputs, input)
		}
		return client.GetUTxOByTxIn(inputs)
	case *localstatequery.ShelleyFilteredDelegationAndRewardAccountsQuery:
		found, err := client.GetFilteredDelegationsAndRewardAccounts(q.Creds.Items())
		if err != nil {
			return nil, err
		}
		return []any{[]any{found.Delegations, found.Rewards}}, nil
	case *localstatequery.ShelleyStakeDelegDepositsQuery:
		return one(client.GetStakeDelegDeposits(q.Creds.Items()))
	case *localstatequery.ShelleyFilteredVoteDelegateesQuery:
		return one(client.GetFilteredVoteDelegatees(q.Credentials.Items()))
	case *localstatequery.ShelleyStakeSnapshotsQuery:
		return one(client.GetStakeSnapshots(nil))
	case *localstatequery.ShelleyStakePoolsQuery:
		return client.GetStakePools()
	case *localstatequery.ShelleyAccountStateQuery:
		return client.GetAccountState()
	default:
		return governanceQuery(client, q)
	}
}

// governanceQuery asks the node what gouroboros has types for. Its proposals and its ratify state have no filter.
func governanceQuery(client *localstatequery.Client, query any) (any, error) {
	one := func(value any, err error) (any, error) { return []any{value}, err }
	switch q := query.(type) {
	case *localstatequery.ShelleyConstitutionQuery:
		return client.GetConstitution()
	case *localstatequery.ShelleyGovStateQuery:
		return client.GetGovState()
	case *localstatequery.ShelleyDRepStateQuery:
		return client.GetDRepState(q.Credentials.Items())
	case *localstatequery.ShelleyDRepStakeDistrQuery:
		return client.GetDRepStakeDistr(q.DReps.Items())
	case *localstatequery.ShelleyCommitteeMembersStateQuery:
		return client.GetCommitteeMembersState(q.ColdCreds.Items(), q.HotCreds.Items(), q.MemberStatus.Items())
	case *localstatequery.ShelleySPOStakeDistrQuery:
		return client.GetSPOStakeDistr(q.PoolIds.Items())
	case *localstatequery.ShelleyGetProposalsQuery:
		return one(client.GetProposals())
	case *localstatequery.ShelleyGetRatifyStateQuery:
		return client.GetRatifyState()
	case *localstatequery.ShelleyRewardInfoPoolsQuery:
		return client.GetRewardInfoPools()
	default:
		return nil, fmt.Errorf("unsupported query: %T", q)
	}
}

func (r *relay) mempool(localtxmonitor.CallbackContext) (uint64, uint32, []localtxmonitor.TxAndEraId, error) {
	client := r.up.LocalTxMonitor().Client
	if err := client.Acquire(); err != nil {
		return 0, 0, nil, err
	}
	capacity, _, _, err := client.GetSizes()
	if err != nil {
		return 0, 0, nil, err
	}
	waiting := []localtxmonitor.TxAndEraId{}
	for {
		transaction, err := client.NextTx()
		if err != nil {
			return 0, 0, nil, err
		}
		if transaction == nil {
			break
		}
		waiting = append(waiting, localtxmonitor.TxAndEraId{EraId: ledger.EraIdConway, Tx: transaction})
	}
	// gouroboros' client keeps the snapshot's slot to itself
	return 0, capacity, waiting, client.Release()
}
