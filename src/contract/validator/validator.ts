/**
 * The contract: one Plutus V3 script, which is the policy of its tokens and the payment part of the addresses of their states
 * and requests. The purpose of the run and the redeemer select the handler.
 */
import * as u from "#src/contract/uplc/builtin.ts";
import { bind, check, choose, chooseByTag, fn, forms, int, or } from "#src/contract/uplc/expression.ts";
import type { Data, Expr, Fn, Int, List, Pair, Unit } from "#src/contract/uplc/term.ts";
import {
  Context,
  Datum,
  Just,
  Minting,
  Request,
  Spending,
  State,
  Transaction,
  type TransactionFields,
} from "#src/contract/validator/context.ts";
import { contribute, contributeAt } from "#src/contract/validator/contribute.ts";
import { end } from "#src/contract/validator/end.ts";
import {
  fromFirst,
  known,
  type Library,
  type Spent,
  withAmong,
  withLibrary,
  withSpent,
} from "#src/contract/validator/library.ts";
import { mint } from "#src/contract/validator/mint.ts";
import { modify } from "#src/contract/validator/modify.ts";
import { retract } from "#src/contract/validator/retract.ts";

/** The script as a function of its context. Version 3 has the conditions of version 2 and other redeemers of requests. */
export const validator: Expr<Fn<[Data], Unit>> = fn((context) =>
  bind([Context.open(context)], (fields) => forms(() => version2(fields), () => version3(fields)))
);

type ContextFields = ReturnType<typeof Context.open>;

function version2(fields: ContextFields): Expr<Unit> {
  return bind(
    [Transaction.open(Context.raw.transaction(fields)), Context.get.redeemer(fields), Context.get.purpose(fields)],
    (tx, redeemer, purpose) =>
      withSpent((spent) =>
        choose(
          u.equalInts(u.first(purpose), int(1)),
          spend(spent, tx, redeemer, u.second(purpose)),
          check(
            u.equalInts(u.first(purpose), int(0)),
            "no such purpose",
            withLibrary(
              spent,
              (library) => mint(library, tx, redeemer, Minting.raw.policy(Minting.of(u.second(purpose)))),
            ),
          ),
        )
      ),
  );
}

/** Spending an output at the script, by redeemer: end 0 or modify 2 (4 with a crown) a state; contribute 1 or retract 3 a request. */
function spend(
  spent: Spent,
  tx: TransactionFields,
  redeemer: Expr<Pair<Int, List<Data>>>,
  purpose: Expr<List<Data>>,
): Expr<Unit> {
  return bind([Spending.of(purpose)], (spending) =>
    bind([
      Spending.raw.reference(spending),
      u.unConstr(Just.raw.value(Just.open(Spending.raw.datum(spending)))),
      u.first(redeemer),
    ], (reference, datum, action) => {
      const content = Datum.raw.content(Datum.of(u.second(datum)));
      const isRequest = u.equalInts(u.first(datum), int(0));
      return choose(
        u.equalInts(action, int(1)),
        check(isRequest, "not a request", contribute(spent, tx, reference, Request.open(content))),
        withLibrary(spent, (library) =>
          choose(
            u.equalInts(action, int(3)),
            check(isRequest, "not a request", retract(library, tx, Request.open(content))),
            check(
              u.equalInts(u.first(datum), int(1)),
              "not a state",
              bind([State.open(content)], (state) => ofState(library, tx, redeemer, reference, state, action)),
            ),
          )),
      );
    }));
}

/** Contributing comes before everything that only others need: it runs once for each request. */
function version3(fields: ContextFields): Expr<Unit> {
  return bind(
    [Transaction.open(Context.raw.transaction(fields)), Context.raw.redeemer(fields), Context.get.purpose(fields)],
    (tx, redeemer, purpose) =>
      choose(
        u.equalInts(u.first(purpose), int(1)),
        spend3(tx, redeemer, u.second(purpose)),
        check(
          u.equalInts(u.first(purpose), int(0)),
          "no such purpose",
          withSpent(
            (spent) =>
              withLibrary(spent, (library) =>
                mint(library, tx, u.unConstr(redeemer), Minting.raw.policy(Minting.of(u.second(purpose))))),
            fromFirst,
          ),
        ),
      ),
  );
}

/** As `spend`, but contributing and being refused have a number as redeemer, and retracting exactly constructor 3 without fields. */
function spend3(tx: TransactionFields, redeemer: Expr<Data>, purpose: Expr<List<Data>>): Expr<Unit> {
  return bind([Spending.of(purpose)], (spending) =>
    bind([
      Spending.raw.reference(spending),
      u.unConstr(Just.raw.value(Just.open(Spending.raw.datum(spending)))),
    ], (reference, datum) => {
      const content = Datum.raw.content(Datum.of(u.second(datum)));
      return chooseByTag(
        u.first(datum),
        0,
        bind([Request.open(content)], (request) =>
          choose(
            u.equalData(redeemer, known(3)),
            withAmong((isAmong) => retract({ isAmong }, tx, request)),
            contributeAt(tx, reference, redeemer, request),
          )),
        withSpent((spent) =>
          withLibrary(spent, (library) =>
            bind([State.open(content), u.unConstr(redeemer)], (state, redeemer) =>
              bind([u.first(redeemer)], (action) =>
                ofState(library, tx, redeemer, reference, state, action))))
        ),
      );
    }));
}

function ofState(
  library: Library,
  tx: TransactionFields,
  redeemer: Expr<Pair<Int, List<Data>>>,
  reference: Expr<Data>,
  state: ReturnType<typeof State.open>,
  action: Expr<Int>,
): Expr<Unit> {
  return choose(
    u.equalInts(action, int(0)),
    end(library, tx, reference, state),
    forms(
      () =>
        check(
          or(u.equalInts(action, int(2)), u.equalInts(action, int(4))),
          "no such redeemer",
          modify(library, tx, redeemer, reference, state),
        ),
      () => modify(library, tx, redeemer, reference, state),
    ),
  );
}
