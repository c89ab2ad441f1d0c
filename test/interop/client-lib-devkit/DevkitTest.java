import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.bloxbean.cardano.client.account.Account;
import com.bloxbean.cardano.client.address.Address;
import com.bloxbean.cardano.client.address.AddressProvider;
import com.bloxbean.cardano.client.address.Credential;
import com.bloxbean.cardano.client.api.model.Result;
import com.bloxbean.cardano.client.backend.blockfrost.service.BFBackendService;
import com.bloxbean.cardano.client.backend.model.AccountInformation;
import com.bloxbean.cardano.client.common.model.Networks;
import com.bloxbean.cardano.client.crypto.KeyGenUtil;
import com.bloxbean.cardano.client.crypto.Keys;
import com.bloxbean.cardano.client.function.TxSigner;
import com.bloxbean.cardano.client.function.helper.SignerProviders;
import com.bloxbean.cardano.client.plutus.spec.BigIntPlutusData;
import com.bloxbean.cardano.client.plutus.spec.PlutusV3Script;
import com.bloxbean.cardano.client.quicktx.QuickTxBuilder;
import com.bloxbean.cardano.client.quicktx.ScriptTx;
import com.bloxbean.cardano.client.quicktx.Tx;
import com.bloxbean.cardano.client.spec.UnitInterval;
import com.bloxbean.cardano.client.transaction.spec.ProtocolParamUpdate;
import com.bloxbean.cardano.client.transaction.spec.cert.PoolRegistration;
import com.bloxbean.cardano.client.transaction.spec.governance.Anchor;
import com.bloxbean.cardano.client.transaction.spec.governance.DRep;
import com.bloxbean.cardano.client.transaction.spec.governance.Vote;
import com.bloxbean.cardano.client.transaction.spec.governance.Voter;
import com.bloxbean.cardano.client.transaction.spec.governance.VoterType;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.GovActionId;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.InfoAction;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.ParameterChangeAction;
import com.bloxbean.cardano.client.util.HexUtil;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Stake and governance with cardano-client-lib, as its users write it for Yaci DevKit: the first default account, the pool of
 * the genesis, the deposits and the guardrails script of the constitution. `-Dstore` and `-Dadmin` are the URLs.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DevkitTest {
    private static final String WORDS = "test ".repeat(23) + "sauce";
    private static final String POOL = "pool1wvqhvyrgwch4jq9aa84hc8q4kzvyq2z3xr6mpafkqmx9wce39zy";
    private static final BigInteger ADA = BigInteger.valueOf(1_000_000);
    private static final BigIntPlutusData ANY = BigIntPlutusData.of(1);
    private static final Anchor ANCHOR = new Anchor("https://example.org/anchor.json", new byte[32]);

    private static final String ADMIN = System.getProperty("admin");
    private static final BFBackendService BACKEND = new BFBackendService(System.getProperty("store") + "/", "any");
    private static final Account ACCOUNT = Account.createFromMnemonic(Networks.testnet(), WORDS);
    private static final TxSigner STAKE = SignerProviders.stakeKeySignerFrom(ACCOUNT);
    private static final TxSigner DREP = SignerProviders.drepKeySignerFrom(ACCOUNT);
    private static final PlutusV3Script SCRIPT =
            PlutusV3Script.builder().type("PlutusScriptV3").cborHex("46450101002499").build();
    private static final Keys COLD = keys();

    private static GovActionId change;

    private static Keys keys() {
        try {
            return KeyGenUtil.generateKey();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private static String scriptHash() throws Exception {
        return HexUtil.encodeHexString(SCRIPT.getScriptHash());
    }

    private static Address scriptStake() {
        return AddressProvider.getRewardAddress(SCRIPT, Networks.testnet());
    }

    private static String post(String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(ADMIN + path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), answer.body());
        return answer.body();
    }

    /** Signs with the payment key and others, which the library does not expect where they need not sign; gives the hash. */
    private static String land(QuickTxBuilder.TxContext context, TxSigner... others) {
        context.withSigner(SignerProviders.signerFrom(ACCOUNT));
        for (TxSigner other : others) context.withSigner(other);
        Result<String> result = context.completeAndWait(message -> {});
        assertTrue(result.isSuccessful(), result.getResponse());
        return result.getValue();
    }

    private static QuickTxBuilder.TxContext of(Tx tx) {
        return new QuickTxBuilder(BACKEND).compose(tx.from(ACCOUNT.baseAddress()));
    }

    private static String land(Tx tx, TxSigner... others) {
        return land(of(tx), others);
    }

    private static String land(ScriptTx tx) {
        return land(new QuickTxBuilder(BACKEND).compose(tx).feePayer(ACCOUNT.baseAddress()));
    }

    private static AccountInformation stake(String address) throws Exception {
        return BACKEND.getAccountService().getAccountInformation(address).getValue();
    }

    @BeforeAll
    static void begin() throws Exception {
        post("/local-cluster/api/admin/devnet/reset", "");
        post("//local-cluster/api/addresses/topup",
                "{\"address\":\"" + ACCOUNT.baseAddress() + "\",\"adaAmount\":\"500000\"}");
    }

    @Test
    @Order(1)
    void theDepositsAreThoseOfYaciDevKit() throws Exception {
        var parameters = BACKEND.getEpochService().getProtocolParameters().getValue();
        assertEquals(ADA.multiply(BigInteger.valueOf(1_000)), parameters.getGovActionDeposit());
        assertEquals(ADA.multiply(BigInteger.valueOf(500)), parameters.getDrepDeposit());
        assertEquals("2000000", parameters.getKeyDeposit());
        assertEquals("500000000", parameters.getPoolDeposit());
    }

    @Test
    @Order(2)
    void stakeAddressesOfAKeyAndAScriptAreRegistered() throws Exception {
        land(new Tx().registerStakeAddress(ACCOUNT.baseAddress()).registerStakeAddress(scriptStake()));
        assertTrue(stake(scriptStake().toBech32()) != null);
        assertEquals("0", stake(ACCOUNT.stakeAddress()).getWithdrawableAmount());
    }

    @Test
    @Order(3)
    void bothDelegateToThePoolOfTheGenesis() throws Exception {
        land(new Tx().delegateTo(ACCOUNT.baseAddress(), POOL), STAKE);
        // its fee for a vote delegation lacks a signature
        land(of(new Tx().delegateVotingPowerTo(ACCOUNT.baseAddress(), DRep.abstain())).additionalSignersCount(1), STAKE);
        land(new ScriptTx().delegateTo(scriptStake(), POOL, ANY).attachCertificateValidator(SCRIPT));
        assertEquals(POOL, stake(ACCOUNT.stakeAddress()).getPool_id());
        assertEquals(POOL, stake(scriptStake().toBech32()).getPool_id());
    }

    @Test
    @Order(4)
    void representativesOfAKeyAndAScriptRegisterAndChange() throws Exception {
        land(new Tx().registerDRep(ACCOUNT, ANCHOR), DREP);
        land(new Tx().updateDRep(ACCOUNT.drepCredential(), ANCHOR), DREP);
        Credential script = Credential.fromScript(SCRIPT.getScriptHash());
        land(new ScriptTx().registerDRep(script, ANCHOR, ANY).attachCertificateValidator(SCRIPT));
        land(new ScriptTx().updateDRep(script, ANCHOR, ANY).attachCertificateValidator(SCRIPT));
    }

    @Test
    @Order(5)
    void proposalsCostADepositOfAThousandAda() throws Exception {
        land(new Tx().createProposal(new InfoAction(), ACCOUNT.stakeAddress(), ANCHOR));
        ParameterChangeAction action = new ParameterChangeAction();
        action.setProtocolParamUpdate(
                ProtocolParamUpdate.builder().minPoolCost(ADA.multiply(BigInteger.valueOf(300))).build());
        action.setPolicyHash(SCRIPT.getScriptHash());
        String hash = land(new ScriptTx()
                .createProposal(action, ACCOUNT.stakeAddress(), ANCHOR, ANY)
                .attachProposingValidator(SCRIPT));
        change = new GovActionId(hash, 0);
        var proposed = BACKEND.getTransactionService().getTransaction(hash).getValue();
        assertEquals("1000000000", proposed.getDeposit());
    }

    @Test
    @Order(6)
    void bothRepresentativesVote() throws Exception {
        Voter key = new Voter(VoterType.DREP_KEY_HASH, ACCOUNT.drepCredential());
        land(new Tx().createVote(key, change, Vote.NO, ANCHOR), DREP);
        Voter script = new Voter(VoterType.DREP_SCRIPT_HASH, Credential.fromScript(SCRIPT.getScriptHash()));
        land(new ScriptTx().createVote(script, change, Vote.YES, ANCHOR, ANY).attachVotingValidator(SCRIPT));
    }

    @Test
    @Order(7)
    void aScriptDelegatesItsVotes() throws Exception {
        land(new ScriptTx()
                .delegateVotingPowerTo(scriptStake(), DRep.scriptHash(scriptHash()), ANY)
                .attachCertificateValidator(SCRIPT));
    }

    @Test
    @Order(8)
    void representativesGetTheirDepositBack() throws Exception {
        BigInteger deposit = BACKEND.getEpochService().getProtocolParameters().getValue().getDrepDeposit();
        land(new Tx().unregisterDRep(ACCOUNT.drepCredential()), DREP);
        String hash = land(new ScriptTx()
                .unRegisterDRep(Credential.fromScript(SCRIPT.getScriptHash()), ACCOUNT.baseAddress(), deposit, ANY)
                .attachCertificateValidator(SCRIPT));
        assertEquals("-500000000", BACKEND.getTransactionService().getTransaction(hash).getValue().getDeposit());
    }

    @Test
    @Order(9)
    void aPoolIsRegisteredAndRetires() throws Exception {
        byte[] operator = KeyGenUtil.blake2bHash224(COLD.getVkey().getBytes());
        byte[] reward = new Address(ACCOUNT.stakeAddress()).getBytes();
        String owner = HexUtil.encodeHexString(reward).substring(2);
        PoolRegistration registration = PoolRegistration.builder()
                .operator(operator)
                .vrfKeyHash(KeyGenUtil.blake2bHash256(COLD.getVkey().getBytes()))
                .pledge(ADA)
                .cost(ADA.multiply(BigInteger.valueOf(340)))
                .margin(new UnitInterval(BigInteger.ONE, BigInteger.TEN))
                .rewardAccount(HexUtil.encodeHexString(reward))
                .poolOwners(Set.of(owner))
                .relays(List.of())
                .build();
        TxSigner cold = SignerProviders.signerFrom(COLD.getSkey());
        land(new Tx().registerPool(registration), cold, STAKE);
        String pool = registration.getBech32PoolId();
        int epoch = BACKEND.getEpochService().getLatestEpoch().getValue().getEpoch();
        land(new Tx().retirePool(pool, epoch + 2), cold);
    }

    @Test
    @Order(10)
    void thePoolOfTheGenesisEarnsForItsDelegators() throws Exception {
        post("/epochs", "{\"count\":5,\"blocks\":20}");
        BigInteger earned = new BigInteger(stake(ACCOUNT.stakeAddress()).getWithdrawableAmount());
        assertTrue(earned.signum() > 0, "nothing earned");
        land(new Tx().withdraw(ACCOUNT.stakeAddress(), earned), STAKE);
        assertEquals("0", stake(ACCOUNT.stakeAddress()).getWithdrawableAmount());
    }

    @Test
    @Order(11)
    void stakeAddressesAreDeregistered() throws Exception {
        land(new ScriptTx().deregisterStakeAddress(scriptStake(), ANY).attachCertificateValidator(SCRIPT));
        land(new Tx().deregisterStakeAddress(ACCOUNT.baseAddress()), STAKE);
        assertFalse(Boolean.TRUE.equals(stake(ACCOUNT.stakeAddress()).getActive()));
    }
}
