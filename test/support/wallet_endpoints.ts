/** The endpoints of other wallet servers: method, path, name of the operation, status of a success. */
const TABLE = `
POST /wallets/{walletId}/signatures/{role}/{index} signMetadata 200
POST /wallets postWallet 201
GET /wallets listWallets 200
GET /wallets/{walletId}/assets listAssets 200
GET /wallets/{walletId}/assets/{policyId}/{assetName} getAsset 200
GET /wallets/{walletId}/assets/{policyId} getAssetDefault 200
GET /wallets/{walletId}/statistics/utxos getUTxOsStatistics 200
GET /wallets/{walletId}/utxo getWalletUtxoSnapshot 200
GET /wallets/{walletId} getWallet 200
DELETE /wallets/{walletId} deleteWallet 204
PUT /wallets/{walletId} putWallet 200
PUT /wallets/{walletId}/passphrase putWalletPassphrase 204
POST /wallets/{walletId}/payment-fees postTransactionFee 202
POST /wallets/{walletId}/transactions postTransaction 202
GET /wallets/{walletId}/transactions listTransactions 200
GET /wallets/{walletId}/transactions/{transactionId} getTransaction 200
DELETE /wallets/{walletId}/transactions/{transactionId} deleteTransaction 204
POST /wallets/{walletId}/transactions-construct constructTransaction 202
POST /wallets/{walletId}/transactions-sign signTransaction 202
POST /wallets/{walletId}/transactions-decode decodeTransaction 202
POST /wallets/{walletId}/transactions-submit submitTransaction 202
GET /wallets/{walletId}/addresses listAddresses 200
POST /wallets/{walletId}/keys/{index} postAccountKey 202
GET /wallets/{walletId}/keys getAccountKey 200
GET /wallets/{walletId}/keys/{role}/{index} getWalletKey 200
POST /wallets/{walletId}/policy-id postPolicyId 202
POST /wallets/{walletId}/policy-key postPolicyKey 202
GET /wallets/{walletId}/policy-key getPolicyKey 200
GET /wallets/{walletId}/stake-keys listStakeKeys 200
GET /stake-pools listStakePools 200
GET /stake-pools/maintenance-actions getMaintenanceActions 200
POST /stake-pools/maintenance-actions postMaintenanceAction 204
GET /wallets/{walletId}/delegation-fees getDelegationFee 200
DELETE /stake-pools/*/wallets/{walletId} quitStakePool 202
PUT /stake-pools/{stakePoolId}/wallets/{walletId} joinStakePool 202
GET /dreps listDReps 200
GET /dreps/summary getDRepSummary 200
GET /dreps/suggested suggestedDReps 200
GET /dreps/{drepId} getDRep 200
PUT /dreps/{drepId}/wallets/{walletId} joinDRep 202
POST /wallets/{walletId}/coin-selections/random selectCoins 200
POST /wallets/{walletId}/migrations migrateShelleyWallet 202
POST /wallets/{walletId}/migrations/plan createShelleyWalletMigrationPlan 202
POST /wallets/{walletId}/transactions-balance balanceTransaction 202
POST /byron-wallets postByronWallet 201
GET /byron-wallets listByronWallets 200
GET /byron-wallets/{walletId}/assets listByronAssets 200
GET /byron-wallets/{walletId}/assets/{policyId}/{assetName} getByronAsset 200
GET /byron-wallets/{walletId}/assets/{policyId} getByronAssetDefault 200
GET /byron-wallets/{walletId}/statistics/utxos getByronUTxOsStatistics 200
GET /byron-wallets/{walletId}/utxo getByronWalletUtxoSnapshot 200
GET /byron-wallets/{walletId} getByronWallet 200
DELETE /byron-wallets/{walletId} deleteByronWallet 204
PUT /byron-wallets/{walletId} putByronWallet 200
PUT /byron-wallets/{walletId}/passphrase putByronWalletPassphrase 204
POST /byron-wallets/{walletId}/addresses createAddress 201
GET /byron-wallets/{walletId}/addresses listByronAddresses 200
PUT /byron-wallets/{walletId}/addresses importAddresses 204
PUT /byron-wallets/{walletId}/addresses/{addressId} importAddress 204
POST /byron-wallets/{walletId}/payment-fees postByronTransactionFee 202
POST /byron-wallets/{walletId}/transactions postByronTransaction 202
GET /byron-wallets/{walletId}/transactions listByronTransactions 200
GET /byron-wallets/{walletId}/transactions/{transactionId} getByronTransaction 200
DELETE /byron-wallets/{walletId}/transactions/{transactionId} deleteByronTransaction 204
POST /byron-wallets/{walletId}/coin-selections/random byronSelectCoins 200
POST /byron-wallets/{walletId}/migrations migrateByronWallet 202
POST /byron-wallets/{walletId}/migrations/plan createByronWalletMigrationPlan 202
GET /network/information getNetworkInformation 200
GET /network/clock getNetworkClock 200
GET /network/parameters getNetworkParameters 200
POST /proxy/transactions postExternalTransaction 202
GET /addresses/{addressId} inspectAddress 200
POST /addresses postAnyAddress 202
PUT /settings putSettings 204
GET /settings getSettings 200
GET /smash/health getCurrentSmashHealth 200
POST /shared-wallets postSharedWallet 201
GET /shared-wallets listSharedWallets 200
GET /shared-wallets/{walletId} getSharedWallet 200
DELETE /shared-wallets/{walletId} deleteSharedWallet 204
PUT /shared-wallets/{walletId} putSharedWallet 200
GET /shared-wallets/{walletId}/statistics/utxos getUTxOsStatisticsShared 200
GET /shared-wallets/{walletId}/utxo getSharedWalletUtxoSnapshot 200
PATCH /shared-wallets/{walletId}/payment-script-template patchSharedWalletInPayment 200
PATCH /shared-wallets/{walletId}/delegation-script-template patchSharedWalletInDelegation 200
POST /shared-wallets/{walletId}/transactions-construct constructSharedTransaction 202
POST /shared-wallets/{walletId}/transactions-decode decodeSharedTransaction 202
POST /shared-wallets/{walletId}/transactions-sign signSharedTransaction 202
POST /shared-wallets/{walletId}/transactions-submit submitSharedTransaction 202
GET /shared-wallets/{walletId}/transactions listSharedTransactions 200
GET /shared-wallets/{walletId}/transactions/{transactionId} getSharedTransaction 200
POST /shared-wallets/{walletId}/keys/{index} postAccountKeyShared 202
GET /shared-wallets/{walletId}/keys getAccountKeyShared 200
GET /shared-wallets/{walletId}/keys/{role}/{index} getSharedWalletKey 200
GET /shared-wallets/{walletId}/addresses listSharedAddresses 200
GET /blocks/latest/header getBlocksLatestHeader 200
`;

export interface Endpoint {
  /** `GET /wallets/{walletId}`. */
  readonly name: string;
  readonly operation: string;
  readonly status: string;
}

export const ENDPOINTS: readonly Endpoint[] = TABLE.trim().split("\n").map((line) => {
  const [method, path, operation, status] = line.split(" ");
  return { name: `${method} ${path}`, operation: operation!, status: status! };
});
