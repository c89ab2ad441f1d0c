/**
 * Minting and burning.
 *
 * A token is minted once: its name is the hash of an output reference that the transaction spends. Its only unit goes to the
 * first output, which is the state of a token without facts, at the script's address without a stake part. The owner must
 * sign. Burning only removes; spending the token's state decides whether it may be burnt.
 */
import { EMPTY } from "#src/forestry/hash.ts";
import * as u from "#src/contract/uplc/builtin.ts";
import {
  bind,
  bool,
  call,
  check,
  choose,
  data,
  fn,
  ifEmpty,
  int,
  recursive,
  unit,
} from "#src/contract/uplc/expression.ts";
import type { Data, Expr, Int, List, Pair, Unit } from "#src/contract/uplc/term.ts";
import {
  nothing,
  Reference,
  Seed,
  SeedToken,
  Transaction,
  type TransactionFields,
} from "#src/contract/validator/context.ts";
import { construct, type Library, quantity, signed, withNextState } from "#src/contract/validator/library.ts";

/** Whether the transaction may mint or burn what it does under the policy. */
export function mint(
  library: Library,
  tx: TransactionFields,
  redeemer: Expr<Pair<Int, List<Data>>>,
  policy: Expr<Data>,
): Expr<Unit> {
  return bind([call(library.lookup, policy, Transaction.get.mint(tx))], (minted) =>
    choose(
      u.equalInts(u.first(redeemer), int(0)),
      boot(
        library,
        tx,
        Seed.raw.reference(Seed.open(SeedToken.raw.seed(SeedToken.of(u.second(redeemer))))),
        policy,
        minted,
      ),
      check(u.equalInts(u.first(redeemer), int(1)), "mint: no such redeemer", call(onlyBurns, u.unMap(minted))),
    ));
}

function boot(
  library: Library,
  tx: TransactionFields,
  reference: Expr<Data>,
  policy: Expr<Data>,
  minted: Expr<Data>,
): Expr<Unit> {
  return bind(
    [call(library.spent, reference, Transaction.get.inputs(tx)), nameOf(reference), ownAddress(policy)],
    (_spent, name, address) =>
      check(
        u.equalData(minted, quantity(name, 1n)),
        "mint: not one token that is named after its seed",
        withNextState(
          tx,
          address,
          { policy, name },
          data(EMPTY),
          (owner) => check(signed(library, tx, owner), "mint: not signed by the owner", unit),
        ),
      ),
  );
}

/** sha2-256 of the seed's transaction id and its index in two bytes. */
function nameOf(reference: Expr<Data>): Expr<Data> {
  return bind([Reference.open(reference)], (seed) =>
    u.bytesData(
      u.sha2(u.append(Reference.get.transaction(seed), u.intToBytes(bool(true), int(2), Reference.get.index(seed)))),
    ));
}

function ownAddress(policy: Expr<Data>): Expr<Data> {
  return construct(0, construct(1, policy), nothing);
}

const onlyBurns = recursive<[List<Pair<Data, Data>>], Unit>((self) =>
  fn((assets) =>
    ifEmpty(
      assets,
      unit,
      check(u.less(u.unInt(u.second(u.head(assets))), int(0)), "burn: something is minted", self(u.tail(assets))),
    )
  )
);
