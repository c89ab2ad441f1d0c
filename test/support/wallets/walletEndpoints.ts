/**
 * The endpoints of other wallet servers: method, path, name of the operation, status of a success, and the schemas of
 * the request's body and of the answer by their names in `test/vectors/wallet-schemas.txt` (`-`: none in JSON, `[]`: a list).
 */
const TABLE = `
POST /wallets/{walletId}/signatures/{role}/{index} signMetadata 200 ApiWalletSignData -
POST /wallets postWallet 201 ApiWalletOrAccountPostData ApiWallet
GET /wallets listWallets 200 - [ApiWallet]
GET /wallets/{walletId}/assets listAssets 200 - [ApiAsset]
GET /wallets/{walletId}/assets/{policyId}/{assetName} getAsset 200 - ApiAsset
GET /wallets/{walletId}/assets/{policyId} getAssetDefault 200 - ApiAsset
GET /wallets/{walletId}/statistics/utxos getUTxOsStatistics 200 - ApiWalletUTxOsStatistics
GET /wallets/{walletId}/utxo getWalletUtxoSnapshot 200 - ApiWalletUtxoSnapshot
GET /wallets/{walletId} getWallet 200 - ApiWallet
DELETE /wallets/{walletId} deleteWallet 204 - -
PUT /wallets/{walletId} putWallet 200 ApiWalletPutDataExtended ApiWallet
PUT /wallets/{walletId}/passphrase putWalletPassphrase 204 ApiWalletPutPassphraseData -
POST /wallets/{walletId}/payment-fees postTransactionFee 202 ApiPostTransactionFeeData|ApiPostRedemptionFeeData ApiFee
POST /wallets/{walletId}/transactions postTransaction 202 ApiPostTransactionData|ApiPostRedemptionData ApiTransaction
GET /wallets/{walletId}/transactions listTransactions 200 - [ApiTransaction]
GET /wallets/{walletId}/transactions/{transactionId} getTransaction 200 - ApiTransaction
DELETE /wallets/{walletId}/transactions/{transactionId} deleteTransaction 204 - -
POST /wallets/{walletId}/transactions-construct constructTransaction 202 ApiConstructTransactionData ApiConstructTransaction
POST /wallets/{walletId}/transactions-sign signTransaction 202 ApiSignTransactionPostData ApiSerialisedTransaction
POST /wallets/{walletId}/transactions-decode decodeTransaction 202 ApiDecodeTransactionPostData ApiDecodedTransaction
POST /wallets/{walletId}/transactions-submit submitTransaction 202 ApiSignedTransactionEncoded ApiTxId
GET /wallets/{walletId}/addresses listAddresses 200 - [ApiAddressWithPath]
POST /wallets/{walletId}/keys/{index} postAccountKey 202 ApiPostAccountKeyDataWithPurpose ApiAccountKey
GET /wallets/{walletId}/keys getAccountKey 200 - ApiAccountKey
GET /wallets/{walletId}/keys/{role}/{index} getWalletKey 200 - ApiVerificationKeyShelley
POST /wallets/{walletId}/policy-id postPolicyId 202 ApiPostPolicyIdData ApiPolicyId
POST /wallets/{walletId}/policy-key postPolicyKey 202 ApiPostPolicyKeyData ApiPolicyKey
GET /wallets/{walletId}/policy-key getPolicyKey 200 - ApiPolicyKey
GET /wallets/{walletId}/stake-keys listStakeKeys 200 - ApiStakeKeys
GET /stake-pools listStakePools 200 - [ApiStakePool]
GET /stake-pools/maintenance-actions getMaintenanceActions 200 - ApiMaintenanceAction
POST /stake-pools/maintenance-actions postMaintenanceAction 204 ApiMaintenanceActionPostData -
GET /wallets/{walletId}/delegation-fees getDelegationFee 200 - ApiFee
DELETE /stake-pools/*/wallets/{walletId} quitStakePool 202 ApiWalletPassphrase ApiTransaction
PUT /stake-pools/{stakePoolId}/wallets/{walletId} joinStakePool 202 ApiWalletPassphrase ApiTransaction
GET /dreps listDReps 200 - [ApiDRepInfo]
GET /dreps/summary getDRepSummary 200 - ApiDRepSummary
GET /dreps/suggested suggestedDReps 200 - [ApiDRepInfo]
GET /dreps/{drepId} getDRep 200 - ApiDRepInfo
PUT /dreps/{drepId}/wallets/{walletId} joinDRep 202 ApiWalletPassphrase ApiTransaction
POST /wallets/{walletId}/coin-selections/random selectCoins 200 ApiSelectCoinsData ApiCoinSelection
POST /wallets/{walletId}/migrations migrateShelleyWallet 202 ApiShelleyWalletMigrationPostData [ApiTransaction]
POST /wallets/{walletId}/migrations/plan createShelleyWalletMigrationPlan 202 ApiWalletMigrationPlanPostData ApiWalletMigrationPlan
POST /wallets/{walletId}/transactions-balance balanceTransaction 202 ApiBalanceTransactionPostData ApiConstructTransaction
POST /byron-wallets postByronWallet 201 SomeByronWalletPostData ApiByronWallet
GET /byron-wallets listByronWallets 200 - [ApiByronWallet]
GET /byron-wallets/{walletId}/assets listByronAssets 200 - [ApiAsset]
GET /byron-wallets/{walletId}/assets/{policyId}/{assetName} getByronAsset 200 - ApiAsset
GET /byron-wallets/{walletId}/assets/{policyId} getByronAssetDefault 200 - ApiAsset
GET /byron-wallets/{walletId}/statistics/utxos getByronUTxOsStatistics 200 - ApiWalletUTxOsStatistics
GET /byron-wallets/{walletId}/utxo getByronWalletUtxoSnapshot 200 - ApiWalletUtxoSnapshot
GET /byron-wallets/{walletId} getByronWallet 200 - ApiByronWallet
DELETE /byron-wallets/{walletId} deleteByronWallet 204 - -
PUT /byron-wallets/{walletId} putByronWallet 200 ApiWalletPutData ApiByronWallet
PUT /byron-wallets/{walletId}/passphrase putByronWalletPassphrase 204 ApiByronWalletPutPassphraseData -
POST /byron-wallets/{walletId}/addresses createAddress 201 ApiPostRandomAddressData ApiAddressWithPath
GET /byron-wallets/{walletId}/addresses listByronAddresses 200 - [ApiAddressWithPath]
PUT /byron-wallets/{walletId}/addresses importAddresses 204 ApiPutAddressesData -
PUT /byron-wallets/{walletId}/addresses/{addressId} importAddress 204 - -
POST /byron-wallets/{walletId}/payment-fees postByronTransactionFee 202 ApiPostTransactionFeeDataByron ApiFee
POST /byron-wallets/{walletId}/transactions postByronTransaction 202 ApiPostTransactionDataByron ApiTransaction
GET /byron-wallets/{walletId}/transactions listByronTransactions 200 - [ApiTransaction]
GET /byron-wallets/{walletId}/transactions/{transactionId} getByronTransaction 200 - ApiTransaction
DELETE /byron-wallets/{walletId}/transactions/{transactionId} deleteByronTransaction 204 - -
POST /byron-wallets/{walletId}/coin-selections/random byronSelectCoins 200 ApiByronSelectCoinsData ApiCoinSelection
POST /byron-wallets/{walletId}/migrations migrateByronWallet 202 ApiByronWalletMigrationPostData [ApiTransaction]
POST /byron-wallets/{walletId}/migrations/plan createByronWalletMigrationPlan 202 ApiWalletMigrationPlanPostData ApiWalletMigrationPlan
GET /network/information getNetworkInformation 200 - ApiNetworkInformation
GET /network/clock getNetworkClock 200 - ApiNetworkClock
GET /network/parameters getNetworkParameters 200 - ApiNetworkParameters
POST /proxy/transactions postExternalTransaction 202 - ApiTxId
GET /addresses/{addressId} inspectAddress 200 - ApiAddressInspect
POST /addresses postAnyAddress 202 ApiAddressData AnyAddress
PUT /settings putSettings 204 ApiSettingsPutData -
GET /settings getSettings 200 - ApiGetSettings
GET /smash/health getCurrentSmashHealth 200 - ApiHealthCheck
POST /shared-wallets postSharedWallet 201 ApiSharedWalletPostData ApiSharedWallet
GET /shared-wallets listSharedWallets 200 - [ApiSharedWallet]
GET /shared-wallets/{walletId} getSharedWallet 200 - ApiSharedWallet
DELETE /shared-wallets/{walletId} deleteSharedWallet 204 - -
PUT /shared-wallets/{walletId} putSharedWallet 200 ApiWalletPutDataExtended ApiSharedWallet
GET /shared-wallets/{walletId}/statistics/utxos getUTxOsStatisticsShared 200 - ApiWalletUTxOsStatistics
GET /shared-wallets/{walletId}/utxo getSharedWalletUtxoSnapshot 200 - ApiWalletUtxoSnapshot
PATCH /shared-wallets/{walletId}/payment-script-template patchSharedWalletInPayment 200 ApiSharedWalletPatchData ApiSharedWallet
PATCH /shared-wallets/{walletId}/delegation-script-template patchSharedWalletInDelegation 200 ApiSharedWalletPatchData ApiSharedWallet
POST /shared-wallets/{walletId}/transactions-construct constructSharedTransaction 202 ApiConstructTransactionData ApiConstructTransaction
POST /shared-wallets/{walletId}/transactions-decode decodeSharedTransaction 202 ApiDecodeTransactionPostData ApiDecodedTransaction
POST /shared-wallets/{walletId}/transactions-sign signSharedTransaction 202 ApiSignTransactionPostData ApiSerialisedTransaction
POST /shared-wallets/{walletId}/transactions-submit submitSharedTransaction 202 ApiSignedTransactionEncoded ApiTxId
GET /shared-wallets/{walletId}/transactions listSharedTransactions 200 - [ApiTransaction]
GET /shared-wallets/{walletId}/transactions/{transactionId} getSharedTransaction 200 - ApiTransaction
POST /shared-wallets/{walletId}/keys/{index} postAccountKeyShared 202 ApiPostAccountKeyData ApiAccountKeyShared
GET /shared-wallets/{walletId}/keys getAccountKeyShared 200 - ApiAccountKeyShared
GET /shared-wallets/{walletId}/keys/{role}/{index} getSharedWalletKey 200 - ApiVerificationKeyShared
GET /shared-wallets/{walletId}/addresses listSharedAddresses 200 - [ApiAddressWithPath]
GET /blocks/latest/header getBlocksLatestHeader 200 - ApiBlockHeader
`;

export interface Endpoint {
  /** `GET /wallets/{walletId}`. */
  readonly name: string;
  readonly operation: string;
  readonly status: string;
  /** Names of schemas of the request's body; several are alternatives. */
  readonly request: readonly string[];
  /** Name of the schema of the answer, in brackets if it is a list of them. */
  readonly answer: string | undefined;
}

export const ENDPOINTS: readonly Endpoint[] = TABLE.trim().split("\n").map((line) => {
  const [method, path, operation, status, request, answer] = line.split(" ");
  return {
    name: `${method} ${path}`,
    operation: operation!,
    status: status!,
    request: request === "-" ? [] : request!.split("|"),
    answer: answer === "-" ? undefined : answer!,
  };
});
