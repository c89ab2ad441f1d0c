import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.bloxbean.cardano.client.address.Address;
import com.bloxbean.cardano.client.address.AddressProvider;
import com.bloxbean.cardano.client.address.Credential;
import com.bloxbean.cardano.client.common.model.Networks;
import com.bloxbean.cardano.client.plutus.spec.BigIntPlutusData;
import com.bloxbean.cardano.client.plutus.spec.PlutusV3Script;
import com.bloxbean.cardano.client.quicktx.QuickTxBuilder;
import com.bloxbean.cardano.client.quicktx.ScriptTx;
import com.bloxbean.cardano.client.quicktx.Tx;
import com.bloxbean.cardano.client.transaction.spec.ProtocolParamUpdate;
import com.bloxbean.cardano.client.transaction.spec.cert.PoolRegistration;
import com.bloxbean.cardano.client.transaction.spec.governance.DRep;
import com.bloxbean.cardano.client.transaction.spec.governance.Vote;
import com.bloxbean.cardano.client.transaction.spec.governance.Voter;
import com.bloxbean.cardano.client.transaction.spec.governance.VoterType;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.GovActionId;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.InfoAction;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.ParameterChangeAction;
import com.bloxbean.cardano.client.util.HexUtil;
import java.math.BigInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Stake and governance with cardano-client-lib, as its users write it for Yaci DevKit: the first default account, the pool of
 * the genesis, the deposits and the guardrails script of the constitution.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DevkitTest extends OnDevnet {
    private static final String POOL = "pool1wvqhvyrgwch4jq9aa84hc8q4kzvyq2z3xr6mpafkqmx9wce39zy";
    private static final BigIntPlutusData ANY = BigIntPlutusData.of(1);
    private static final PlutusV3Script SCRIPT =
            PlutusV3Script.builder().type("PlutusScriptV3").cborHex("46450101002499").build();

    private static GovActionId change;

    private static String scriptHash() throws Exception {
        return HexUtil.encodeHexString(SCRIPT.getScriptHash());
    }

    private static Address scriptStake() {
        return AddressProvider.getRewardAddress(SCRIPT, Networks.testnet());
    }

    private static String land(ScriptTx tx) {
        return land(new QuickTxBuilder(BACKEND).compose(tx).feePayer(ACCOUNT.baseAddress()));
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
        PoolRegistration registration = pool();
        land(new Tx().registerPool(registration), POOL_KEY, STAKE);
        String pool = registration.getBech32PoolId();
        int epoch = BACKEND.getEpochService().getLatestEpoch().getValue().getEpoch();
        land(new Tx().retirePool(pool, epoch + 2), POOL_KEY);
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
