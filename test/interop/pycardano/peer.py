"""pycardano on its context for Blockfrost, or on that for Ogmios with or without Kupo. Calls and answers as in serve.mjs."""

import json
import os
import sys
import time
import warnings
from urllib.parse import urlsplit

from pycardano import (
    Address,
    AlonzoMetadata,
    Asset,
    AssetName,
    AuxiliaryData,
    BlockFrostChainContext,
    DRep,
    DRepKind,
    ExtendedSigningKey,
    HDWallet,
    KupoOgmiosV6ChainContext,
    Metadata,
    MultiAsset,
    Network,
    PlutusV1Script,
    PlutusV2Script,
    PlutusV3Script,
    PoolKeyHash,
    Redeemer,
    ScriptHash,
    ScriptPubkey,
    StakeCredential,
    StakeDelegation,
    StakeRegistration,
    TransactionBuilder,
    TransactionId,
    TransactionInput,
    TransactionOutput,
    UTxO,
    Value,
    VoteDelegation,
    Withdrawals,
    datum_hash,
    plutus_script_hash,
)
from pycardano.crypto.bech32 import bech32_decode, convertbits

warnings.simplefilter("ignore")
SETTINGS = json.loads(os.environ["PEER"])
NAME = AssetName(b"pycardano")
PLUTUS = {1: PlutusV1Script, 2: PlutusV2Script, 3: PlutusV3Script}

if "ogmios" in SETTINGS:
    place = urlsplit(SETTINGS["ogmios"])
    context = KupoOgmiosV6ChainContext(place.hostname, place.port, "", False, kupo_url=SETTINGS.get("kupo"))
else:
    context = BlockFrostChainContext("devnet", base_url=SETTINGS["url"].removesuffix("/v0"))
wallet = HDWallet.from_mnemonic(" ".join(SETTINGS["words"]))


def key_at(path):
    return ExtendedSigningKey.from_hdwallet(wallet.derive_from_path(path))


payment_key = key_at("m/1852'/1815'/0'/0/0")
stake_key = key_at("m/1852'/1815'/0'/2/0")
payment_hash = payment_key.to_verification_key().hash()
stake_hash = stake_key.to_verification_key().hash()
address = Address(payment_hash, stake_hash, Network.TESTNET)
reward = Address(staking_part=stake_hash, network=Network.TESTNET)
stake = StakeCredential(stake_hash)


def plutus(of):
    return PLUTUS[of["language"]](bytes.fromhex(of["script"]))


def script_address(script):
    return Address(plutus_script_hash(script), network=Network.TESTNET)


def begin():
    if "ogmios" in SETTINGS:
        # it keeps the tip for a second, and with it the coins of an address
        time.sleep(1.1)
    builder = TransactionBuilder(context)
    builder.add_input_address(address)
    return builder


def end(builder):
    signed = builder.build_and_sign([payment_key, stake_key], change_address=address)
    context.submit_tx(signed)
    return str(signed.id)


def at(ref, owner):
    wanted = TransactionInput(TransactionId.from_primitive(ref["txHash"]), ref["index"])
    return next(utxo for utxo in context.utxos(owner) if utxo.input == wanted)


def pay(to, amount):
    builder = begin()
    builder.add_output(TransactionOutput(Address.from_primitive(to), amount))
    return builder


def minted(script_hash, quantity):
    return MultiAsset({script_hash: Asset({NAME: quantity})})


def utxos(_):
    return [
        {
            "txHash": str(utxo.input.transaction_id),
            "index": utxo.input.index,
            "lovelace": str(utxo.output.amount.coin),
        }
        for utxo in context.utxos(address)
    ]


def parameters(_):
    given = context.protocol_param
    return {
        "minFeeA": given.min_fee_coefficient,
        "minFeeB": given.min_fee_constant,
        "coinsPerUtxoByte": given.coins_per_utxo_byte,
        "keyDeposit": given.key_deposit,
        "maxTxExMem": str(given.max_tx_ex_mem),
    }


def pay_with_metadata(of):
    builder = pay(of["to"], of["amount"])
    metadata = Metadata({of["label"]: {"msg": [of["text"]]}})
    builder.auxiliary_data = AuxiliaryData(AlonzoMetadata(metadata=metadata))
    return end(builder)


def change_supply(builder, script_hash, quantity):
    """Mints to this wallet, or burns from it."""
    builder.mint = minted(script_hash, quantity)
    if quantity > 0:
        output = TransactionOutput(address, Value(2_000_000, minted(script_hash, quantity)))
        builder.add_output(output)
    return end(builder)


def mint(of):
    script = ScriptPubkey(payment_hash)
    builder = begin()
    builder.native_scripts = [script]
    return change_supply(builder, script.hash(), of["quantity"])


def mint_by_script(of):
    script = plutus(of)
    builder = begin()
    builder.add_minting_script(script, redeemer=Redeemer(of["redeemer"]))
    return change_supply(builder, plutus_script_hash(script), of["quantity"])


def lock(of):
    output = TransactionOutput(script_address(plutus(of)), of["amount"])
    if of["inline"]:
        output.datum = of["datum"]
    else:
        output.datum_hash = datum_hash(of["datum"])
    builder = begin()
    builder.add_output(output)
    return end(builder)


def spend(of):
    script = plutus(of)
    builder = begin()
    utxo = at(of["ref"], script_address(script))
    datum = None if of["inline"] else of["datum"]
    builder.add_script_input(utxo, script, datum, Redeemer(of["redeemer"]))
    return end(builder)


def publish(of):
    builder = begin()
    output = TransactionOutput(Address.from_primitive(of["to"]), of["amount"], script=plutus(of))
    builder.add_output(output)
    return end(builder)


def spend_by_reference(of):
    builder = begin()
    holder = at(of["published"], Address.from_primitive(of["holder"]))
    utxo = at(of["ref"], script_address(plutus(of)))
    builder.add_script_input(utxo, holder, redeemer=Redeemer(of["redeemer"]))
    return end(builder)


def certify(certificate):
    builder = begin()
    builder.certificates = [certificate]
    return end(builder)


def delegate(of):
    _, words, _ = bech32_decode(of["pool"])
    pool = bytes(convertbits(words, 5, 8, False))
    return certify(StakeDelegation(stake, PoolKeyHash(pool)))


def withdraw(of):
    builder = begin()
    # it selects no input where the withdrawal pays for everything
    builder.add_input(context.utxos(address)[0])
    builder.withdrawals = Withdrawals({bytes(reward): of["amount"]})
    return end(builder)


def account_of_ogmios():
    [found] = context._wrapped_backend.query_account_reward_summaries(keys=[str(reward)])
    return {"active": True, "pool": found["stakePool"]["id"], "rewards": str(found["rewards"]["ada"]["lovelace"])}


def account(_):
    if "ogmios" in SETTINGS:
        return account_of_ogmios()
    found = context.api.accounts(str(reward))
    rewards = found.withdrawable_amount
    return {"active": found.active, "pool": found.pool_id, "rewards": rewards}


def transaction(of):
    found = context.api.transaction(of["txHash"])
    return {"hash": found.hash, "fee": found.fees, "slot": found.slot}


def holder(of):
    return context.api.asset_addresses(of["unit"])[0].address


FUNCTIONS = {
    "address": lambda _: {"address": str(address), "reward": str(reward)},
    "utxos": utxos,
    "parameters": parameters,
    "pay": lambda of: end(pay(of["to"], of["amount"])),
    "payWithMetadata": pay_with_metadata,
    "mint": mint,
    "mintByScript": mint_by_script,
    "lock": lock,
    "spend": spend,
    "publish": publish,
    "spendByReference": spend_by_reference,
    "register": lambda _: certify(StakeRegistration(stake)),
    "delegate": delegate,
    "vote": lambda _: certify(VoteDelegation(stake, DRep(DRepKind.ALWAYS_ABSTAIN))),
    "withdraw": withdraw,
    "account": account,
    "transaction": transaction,
    "holder": holder,
}

for line in sys.stdin:
    call = json.loads(line)
    try:
        answer = {"value": FUNCTIONS[call["name"]](call["args"])}
    except Exception as error:  # its message is the answer
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
