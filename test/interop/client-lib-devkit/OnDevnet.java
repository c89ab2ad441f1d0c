import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.bloxbean.cardano.client.account.Account;
import com.bloxbean.cardano.client.api.model.Result;
import com.bloxbean.cardano.client.backend.blockfrost.service.BFBackendService;
import com.bloxbean.cardano.client.backend.model.AccountInformation;
import com.bloxbean.cardano.client.common.model.Networks;
import com.bloxbean.cardano.client.crypto.KeyGenUtil;
import com.bloxbean.cardano.client.crypto.Keys;
import com.bloxbean.cardano.client.function.TxSigner;
import com.bloxbean.cardano.client.function.helper.SignerProviders;
import com.bloxbean.cardano.client.quicktx.QuickTxBuilder;
import com.bloxbean.cardano.client.quicktx.Tx;
import com.bloxbean.cardano.client.spec.UnitInterval;
import com.bloxbean.cardano.client.transaction.spec.cert.PoolRegistration;
import com.bloxbean.cardano.client.transaction.spec.governance.Anchor;
import com.bloxbean.cardano.client.address.Address;
import com.bloxbean.cardano.client.util.HexUtil;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;

/** The first default account of a devnet and what it sends. `-Dstore` and `-Dadmin` are the URLs. */
abstract class OnDevnet {
    static final BigInteger ADA = BigInteger.valueOf(1_000_000);
    static final Anchor ANCHOR = new Anchor("https://example.org/anchor.json", new byte[32]);
    static final BFBackendService BACKEND = new BFBackendService(System.getProperty("store") + "/", "any");
    static final Account ACCOUNT = Account.createFromMnemonic(Networks.testnet(), "test ".repeat(23) + "sauce");
    static final TxSigner STAKE = SignerProviders.stakeKeySignerFrom(ACCOUNT);
    static final TxSigner DREP = SignerProviders.drepKeySignerFrom(ACCOUNT);
    static final Keys COLD = keys();
    static final TxSigner POOL_KEY = SignerProviders.signerFrom(COLD.getSkey());

    private static final String ADMIN = System.getProperty("admin");

    private static Keys keys() {
        try {
            return KeyGenUtil.generateKey();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    static String post(String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(ADMIN + path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), answer.body());
        return answer.body();
    }

    /** Signs with the payment key and others, which the library does not expect where they need not sign; gives the hash. */
    static String land(QuickTxBuilder.TxContext context, TxSigner... others) {
        context.withSigner(SignerProviders.signerFrom(ACCOUNT));
        for (TxSigner other : others) context.withSigner(other);
        Result<String> result = context.completeAndWait(message -> {});
        assertTrue(result.isSuccessful(), result.getResponse());
        return result.getValue();
    }

    static QuickTxBuilder.TxContext of(Tx tx) {
        return new QuickTxBuilder(BACKEND).compose(tx.from(ACCOUNT.baseAddress()));
    }

    static String land(Tx tx, TxSigner... others) {
        return land(of(tx), others);
    }

    static AccountInformation stake(String address) throws Exception {
        return BACKEND.getAccountService().getAccountInformation(address).getValue();
    }

    /** A pool of the account, whose cold key is new. */
    static PoolRegistration pool() {
        byte[] reward = new Address(ACCOUNT.stakeAddress()).getBytes();
        return PoolRegistration.builder()
                .operator(KeyGenUtil.blake2bHash224(COLD.getVkey().getBytes()))
                .vrfKeyHash(KeyGenUtil.blake2bHash256(COLD.getVkey().getBytes()))
                .pledge(ADA)
                .cost(ADA.multiply(BigInteger.valueOf(340)))
                .margin(new UnitInterval(BigInteger.ONE, BigInteger.TEN))
                .rewardAccount(HexUtil.encodeHexString(reward))
                .poolOwners(Set.of(HexUtil.encodeHexString(reward).substring(2)))
                .relays(List.of())
                .build();
    }
}
