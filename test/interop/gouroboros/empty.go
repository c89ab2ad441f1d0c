package main

import (
	"errors"

	lcommon "github.com/blinklabs-io/gouroboros/ledger/common"
)

var errNothing = errors.New("this ledger keeps none")

// A ledger without accounts, pools and governance.
type empty struct{}

func (empty) StakeRegistration([]byte) ([]lcommon.StakeRegistrationCertificate, error) {
	return nil, nil
}
func (empty) IsStakeCredentialRegistered(lcommon.Credential) bool { return false }

func (empty) PoolCurrentState(lcommon.PoolKeyHash) (*lcommon.PoolRegistrationCertificate, *uint64, error) {
	return nil, nil, nil
}
func (empty) IsPoolRegistered(lcommon.PoolKeyHash) bool { return false }
func (empty) IsVrfKeyInUse(lcommon.Blake2b256) (bool, lcommon.PoolKeyHash, error) {
	return false, lcommon.PoolKeyHash{}, nil
}

func (empty) CalculateRewards(
	lcommon.AdaPots, lcommon.RewardSnapshot, lcommon.RewardParameters,
) (*lcommon.RewardCalculationResult, error) {
	return nil, errNothing
}
func (empty) GetAdaPots() lcommon.AdaPots         { return lcommon.AdaPots{} }
func (empty) UpdateAdaPots(lcommon.AdaPots) error { return errNothing }
func (empty) GetRewardSnapshot(uint64) (lcommon.RewardSnapshot, error) {
	return lcommon.RewardSnapshot{}, errNothing
}
func (empty) IsRewardAccountRegistered(lcommon.Credential) bool        { return false }
func (empty) RewardAccountBalance(lcommon.Credential) (*uint64, error) { return nil, nil }

func (empty) CommitteeMember(lcommon.Blake2b224) (*lcommon.CommitteeMember, error) { return nil, nil }
func (empty) CommitteeMembers() ([]lcommon.CommitteeMember, error)                 { return nil, nil }
func (empty) DRepRegistration(lcommon.Blake2b224) (*lcommon.DRepRegistration, error) {
	return nil, nil
}
func (empty) DRepRegistrations() ([]lcommon.DRepRegistration, error) { return nil, nil }
func (empty) Constitution() (*lcommon.Constitution, error)           { return nil, nil }
func (empty) TreasuryValue() (uint64, error)                         { return 0, nil }
func (empty) GovActionById(lcommon.GovActionId) (*lcommon.GovActionState, error) {
	return nil, nil
}
func (empty) GovActionExists(lcommon.GovActionId) bool { return false }

func (empty) CostModels() map[lcommon.PlutusLanguage]lcommon.CostModel { return nil }

var _ lcommon.LedgerState = (*view)(nil)
