import com.bloxbean.cardano.client.account.Account;
import com.bloxbean.cardano.client.address.Address;
import com.bloxbean.cardano.client.address.AddressProvider;
import com.bloxbean.cardano.client.api.model.Amount;
import com.bloxbean.cardano.client.api.model.Result;
import com.bloxbean.cardano.client.api.model.Utxo;
import com.bloxbean.cardano.client.backend.KupmiosBackendService;
import com.bloxbean.cardano.client.backend.api.BackendService;
import com.bloxbean.cardano.client.backend.blockfrost.service.BFBackendService;
import com.bloxbean.cardano.client.common.model.Networks;
import com.bloxbean.cardano.client.function.TxSigner;
import com.bloxbean.cardano.client.function.helper.SignerProviders;
import com.bloxbean.cardano.client.metadata.MetadataBuilder;
import com.bloxbean.cardano.client.plutus.blueprint.PlutusBlueprintUtil;
import com.bloxbean.cardano.client.plutus.blueprint.model.PlutusVersion;
import com.bloxbean.cardano.client.plutus.spec.BigIntPlutusData;
import com.bloxbean.cardano.client.plutus.spec.PlutusData;
import com.bloxbean.cardano.client.plutus.spec.PlutusScript;
import com.bloxbean.cardano.client.quicktx.AbstractTx;
import com.bloxbean.cardano.client.quicktx.QuickTxBuilder;
import com.bloxbean.cardano.client.quicktx.ScriptTx;
import com.bloxbean.cardano.client.quicktx.Tx;
import com.bloxbean.cardano.client.quicktx.TxResult;
import com.bloxbean.cardano.client.transaction.spec.Asset;
import com.bloxbean.cardano.client.transaction.spec.governance.DRep;
import com.bloxbean.cardano.client.transaction.spec.script.NativeScript;
import com.bloxbean.cardano.client.transaction.spec.script.ScriptPubkey;
import com.bloxbean.cardano.client.util.HexUtil;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** cardano-client-lib on its backend for Blockfrost, or on that for Kupo and Ogmios. Calls and answers as in serve.mjs. */
public class Peer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NAME = "CCL";

    private final BackendService backend;
    private final Account account;
    private final String address;
    private final TxSigner signers;

    private Peer(JsonNode settings) {
        List<String> words = new ArrayList<>();
        settings.get("words").forEach(word -> words.add(word.asText()));
        backend = settings.has("kupo")
                ? new KupmiosBackendService(settings.get("ogmios").asText(), settings.get("kupo").asText())
                : new BFBackendService(settings.get("url").asText() + "/", "devnet");
        account = Account.createFromMnemonic(Networks.testnet(), String.join(" ", words));
        address = account.baseAddress();
        signers = SignerProviders.signerFrom(account).andThen(SignerProviders.stakeKeySignerFrom(account));
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Peer peer = new Peer(JSON.readTree(System.getenv("PEER")));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode call = JSON.readTree(line);
            Map<String, Object> answer = new LinkedHashMap<>();
            try {
                answer.put("value", peer.call(call.get("name").asText(), call.get("args")));
            } catch (Throwable error) {
                answer.clear();
                answer.put("error", error.toString());
            }
            out.println(JSON.writeValueAsString(answer));
            out.flush();
        }
        System.exit(0);
    }

    private Object call(String name, JsonNode of) throws Exception {
        switch (name) {
            case "address":
                return Map.of("address", address, "reward", account.stakeAddress());
            case "utxos": {
                List<Map<String, Object>> found = new ArrayList<>();
                for (Utxo utxo : value(backend.getUtxoService().getUtxos(address, 100, 1))) {
                    String lovelace = utxo.getAmount().get(0).getQuantity().toString();
                    found.add(Map.of("txHash", utxo.getTxHash(), "index", utxo.getOutputIndex(), "lovelace", lovelace));
                }
                return found;
            }
            case "parameters": {
                var given = value(backend.getEpochService().getProtocolParameters());
                return Map.of(
                        "minFeeA", given.getMinFeeA(),
                        "minFeeB", given.getMinFeeB(),
                        "coinsPerUtxoByte", new BigInteger(given.getCoinsPerUtxoSize()),
                        "keyDeposit", new BigInteger(given.getKeyDeposit()),
                        "maxTxExMem", given.getMaxTxExMem());
            }
            case "pay":
                return end(pay(of));
            case "payWithMetadata": {
                String text = JSON.writeValueAsString(Map.of("msg", List.of(of.get("text").asText())));
                BigInteger label = of.get("label").bigIntegerValue();
                return end(pay(of).attachMetadata(MetadataBuilder.metadataFromJsonBody(label, text)));
            }
            case "mint": {
                byte[] key = account.getBaseAddress().getPaymentCredentialHash().orElseThrow();
                NativeScript script = new ScriptPubkey(HexUtil.encodeHexString(key));
                Asset asset = new Asset(NAME, of.get("quantity").bigIntegerValue());
                Tx tx = new Tx().from(address);
                return end(burns(of) ? tx.mintAssets(script, asset) : tx.mintAssets(script, asset, address));
            }
            case "mintByScript": {
                Asset asset = new Asset(NAME, of.get("quantity").bigIntegerValue());
                PlutusData redeemer = integer(of, "redeemer");
                return end(burns(of)
                        ? new ScriptTx().mintAsset(plutus(of), asset, redeemer)
                        : new ScriptTx().mintAsset(plutus(of), asset, redeemer, address));
            }
            case "lock": {
                String to = AddressProvider.getEntAddress(plutus(of), Networks.testnet()).toBech32();
                PlutusData datum = integer(of, "datum");
                Tx tx = new Tx().from(address);
                return end(of.get("inline").asBoolean()
                        ? tx.payToContract(to, amount(of), datum)
                        : tx.payToContract(to, amount(of), datum.getDatumHash()));
            }
            case "spend": {
                ScriptTx tx = new ScriptTx();
                Utxo utxo = at(of.get("ref"));
                if (of.get("inline").asBoolean()) tx.collectFrom(utxo, integer(of, "redeemer"));
                else tx.collectFrom(utxo, integer(of, "redeemer"), integer(of, "datum"));
                return end(tx.payToAddress(address, utxo.getAmount()).attachSpendingValidator(plutus(of)));
            }
            case "publish":
                return end(new Tx().payToAddress(of.get("to").asText(), amount(of), plutus(of)).from(address));
            case "spendByReference": {
                Utxo utxo = at(of.get("ref"));
                JsonNode published = of.get("published");
                ScriptTx tx = new ScriptTx().collectFrom(utxo, integer(of, "redeemer"));
                tx.readFrom(published.get("txHash").asText(), published.get("index").asInt());
                return end(tx.payToAddress(address, utxo.getAmount()));
            }
            case "register":
                return end(new Tx().registerStakeAddress(account.stakeAddress()).from(address));
            case "delegate":
                return end(new Tx().delegateTo(account.stakeAddress(), of.get("pool").asText()).from(address));
            case "vote": {
                Address stake = new Address(account.stakeAddress());
                Tx tx = new Tx().delegateVotingPowerTo(stake, DRep.abstain()).from(address);
                return end(tx, of.path("signers").asInt());
            }
            case "withdraw": {
                BigInteger amount = of.get("amount").bigIntegerValue();
                return end(new Tx().withdraw(account.stakeAddress(), amount).from(address));
            }
            case "holder":
                return value(backend.getAssetService().getAssetAddresses(of.get("unit").asText(), 100, 1))
                        .get(0).getAddress();
            case "account": {
                var found = value(backend.getAccountService().getAccountInformation(account.stakeAddress()));
                String pool = found.getPool_id();
                return Map.of(
                        "active", found.getActive(),
                        "pool", pool == null ? "" : pool,
                        "rewards", found.getWithdrawableAmount());
            }
            case "transaction": {
                var found = value(backend.getTransactionService().getTransaction(of.get("txHash").asText()));
                return Map.of("hash", found.getHash(), "fee", found.getFees(), "slot", found.getSlot());
            }
            default:
                throw new IllegalArgumentException(name);
        }
    }

    private Tx pay(JsonNode of) {
        return new Tx().payToAddress(of.get("to").asText(), amount(of)).from(address);
    }

    private String end(AbstractTx<?> tx) {
        return end(tx, 0);
    }

    private String end(AbstractTx<?> tx, int moreSigners) {
        var context = new QuickTxBuilder(backend).compose(tx).withSigner(signers).additionalSignersCount(moreSigners);
        TxResult result = (tx instanceof ScriptTx ? context.feePayer(address) : context).complete();
        if (!result.isSuccessful()) throw new IllegalStateException(result.getResponse());
        return result.getValue();
    }

    private static boolean burns(JsonNode of) {
        return of.get("quantity").bigIntegerValue().signum() < 0;
    }

    private static Amount amount(JsonNode of) {
        return Amount.lovelace(of.get("amount").bigIntegerValue());
    }

    private static PlutusData integer(JsonNode of, String name) {
        return BigIntPlutusData.of(of.get(name).bigIntegerValue());
    }

    private static PlutusScript plutus(JsonNode of) throws Exception {
        PlutusVersion[] versions = {PlutusVersion.v1, PlutusVersion.v2, PlutusVersion.v3};
        PlutusVersion version = versions[of.get("language").asInt() - 1];
        return PlutusBlueprintUtil.getPlutusScriptFromCompiledCode(of.get("script").asText(), version);
    }

    private Utxo at(JsonNode ref) throws Exception {
        return value(backend.getUtxoService().getTxOutput(ref.get("txHash").asText(), ref.get("index").asInt()));
    }

    private static <T> T value(Result<T> result) {
        if (!result.isSuccessful()) throw new IllegalStateException(result.getResponse());
        return result.getValue();
    }
}
