import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.bloxbean.cardano.client.address.Credential;
import com.bloxbean.cardano.client.function.TxSigner;
import com.bloxbean.cardano.client.function.helper.SignerProviders;
import com.bloxbean.cardano.client.quicktx.Tx;
import com.bloxbean.cardano.client.spec.UnitInterval;
import com.bloxbean.cardano.client.transaction.spec.ProtocolParamUpdate;
import com.bloxbean.cardano.client.transaction.spec.ProtocolVersion;
import com.bloxbean.cardano.client.transaction.spec.Withdrawal;
import com.bloxbean.cardano.client.transaction.spec.governance.Vote;
import com.bloxbean.cardano.client.transaction.spec.governance.Voter;
import com.bloxbean.cardano.client.transaction.spec.governance.VoterType;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.GovAction;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.GovActionId;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.HardForkInitiationAction;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.ParameterChangeAction;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.TreasuryWithdrawalsAction;
import com.bloxbean.cardano.client.transaction.spec.governance.actions.UpdateCommittee;
import com.bloxbean.cardano.client.util.HexUtil;
import java.math.BigInteger;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * What is proposed and voted with cardano-client-lib takes force: a parameter changes, the treasury pays, the protocol version
 * becomes 11, and the committee is replaced. The account is a representative and the only member of the committee by the
 * genesis, and has the only pool.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GovernanceStoryTest extends OnDevnet {
    private static final TxSigner HOT = SignerProviders.signerFrom(ACCOUNT.committeeHotKeyPair());
    private static final Voter REPRESENTATIVE = new Voter(VoterType.DREP_KEY_HASH, ACCOUNT.drepCredential());
    private static final Voter MEMBER =
            new Voter(VoterType.CONSTITUTIONAL_COMMITTEE_HOT_KEY_HASH, ACCOUNT.committeeHotCredential());
    private static final Voter POOL =
            new Voter(VoterType.STAKING_POOL_KEY_HASH, Credential.fromKey(pool().getOperator()));

    @BeforeAll
    static void begin() {
        land(new Tx().registerPool(pool()), POOL_KEY, STAKE);
        land(new Tx().delegateTo(ACCOUNT.baseAddress(), pool().getBech32PoolId()), STAKE);
    }

    private static GovActionId propose(GovAction action) {
        return new GovActionId(land(new Tx().createProposal(action, ACCOUNT.stakeAddress(), ANCHOR)), 0);
    }

    /** Votes yes as each of these voters, and enters the epoch in which the action takes force. */
    private static void carryOut(GovAction action, Map<Voter, TxSigner> voters) throws Exception {
        GovActionId id = propose(action);
        Tx tx = new Tx();
        for (Voter voter : voters.keySet()) tx.createVote(voter, id, Vote.YES);
        land(of(tx).additionalSignersCount(voters.size()), voters.values().toArray(new TxSigner[0]));
        post("/epochs", "{\"count\":2,\"blocks\":1}");
    }

    @Test
    @Order(1)
    void aParameterChanges() throws Exception {
        ParameterChangeAction action = new ParameterChangeAction();
        action.setProtocolParamUpdate(ProtocolParamUpdate.builder().nOpt(77).build());
        carryOut(action, Map.of(REPRESENTATIVE, DREP, MEMBER, HOT));
        assertEquals(77, BACKEND.getEpochService().getProtocolParameters().getValue().getNOpt());
    }

    @Test
    @Order(2)
    void theTreasuryPays() throws Exception {
        BigInteger before = new BigInteger(stake(ACCOUNT.stakeAddress()).getWithdrawableAmount());
        BigInteger paid = ADA.multiply(BigInteger.valueOf(5_000));
        TreasuryWithdrawalsAction action = new TreasuryWithdrawalsAction();
        action.addWithdrawal(new Withdrawal(ACCOUNT.stakeAddress(), paid));
        carryOut(action, Map.of(REPRESENTATIVE, DREP, MEMBER, HOT));
        BigInteger deposit = BACKEND.getEpochService().getProtocolParameters().getValue().getGovActionDeposit();
        BigInteger after = new BigInteger(stake(ACCOUNT.stakeAddress()).getWithdrawableAmount());
        assertTrue(after.subtract(before).compareTo(paid.add(deposit)) >= 0, after + " after " + before);
    }

    @Test
    @Order(3)
    void theProtocolVersionBecomes11() throws Exception {
        HardForkInitiationAction action = new HardForkInitiationAction();
        action.setProtocolVersion(new ProtocolVersion(11, 0));
        carryOut(action, Map.of(REPRESENTATIVE, DREP, MEMBER, HOT, POOL, POOL_KEY));
        assertEquals(11, BACKEND.getEpochService().getProtocolParameters().getValue().getProtocolMajorVer());
    }

    @Test
    @Order(4)
    void theCommitteeIsReplaced() throws Exception {
        byte[] next = HexUtil.decodeHexString("ab".repeat(28));
        UpdateCommittee action = new UpdateCommittee();
        action.setMembersForRemoval(Set.of(ACCOUNT.committeeColdCredential()));
        action.setNewMembersAndTerms(Map.of(Credential.fromKey(next), 90));
        action.setQuorumThreshold(new UnitInterval(BigInteger.ONE, BigInteger.TWO));
        carryOut(action, Map.of(REPRESENTATIVE, DREP, POOL, POOL_KEY));
    }
}
