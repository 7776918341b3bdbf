import { Effect, Layer, Redacted, Result, type Scope } from "effect"
import * as fc from "fast-check"

import { type Clients, layerSingle, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerDatabase, TestDatabase } from "../../../support/postgres/postgres.ts"
import type { Timed } from "./serial-order.ts"

/** One connection to the database of a lane, with the stores on it. */
export interface Connection<S> {
  readonly sql: WriteSql["Service"]
  readonly stores: S
}

/** A database of its own, on which one history runs at a time: claims look at everything that is there. */
export interface Lane<S> {
  readonly connections: ReadonlyArray<Connection<S>>
}

const CONNECTIONS = 3

/** A lane; `stores` are built anew for each connection, which answers one call at a time. */
export const makeLane = <R, S>(
  layer: Layer.Layer<R, unknown, Clients>,
  stores: Effect.Effect<S, unknown, R | WriteSql>
): Effect.Effect<Lane<S>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = yield* Effect.map(Layer.build(Layer.fresh(layerDatabase)), (context) =>
      TestDatabase.of(context.mapUnsafe.get(TestDatabase.key))
    )
    const connection = Effect.gen(function* () {
      const client = layerSingle({ url: Redacted.make(url) })
      const context = yield* Layer.build(Layer.fresh(Layer.provideMerge(layer, client)))
      return yield* Effect.provide(
        Effect.gen(function* () {
          return { sql: yield* WriteSql, stores: yield* stores }
        }),
        context
      )
    })
    return { connections: yield* Effect.all(Array.from({ length: CONNECTIONS }, () => connection)) }
  }).pipe(Effect.orDie)

/** Counts what happens, for all connections. */
export const makeTicks = () => {
  let ticks = 0
  return () => (ticks += 1)
}

/** An effect with its place on the counter, and its end whether or not it failed. */
export const timed = <A, E, R>(
  tick: () => number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Timed & { readonly end: Result.Result<A, E> }, never, R> =>
  Effect.gen(function* () {
    const begun = tick()
    const end = yield* Effect.result(effect)
    return { begun, end, ended: tick() }
  })

/** For how many round trips a call's transaction stays open: mostly for longer than another call takes. */
export const OPEN = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }))

/**
 * Runs a call in a transaction that stays open for so many round trips more, so that others meet its locks and do not see yet what
 * it did. Where it failed, it is undone and runs once more by itself, as a deadlock is tried again.
 */
export const held = <A, E, R>(
  { sql }: Pick<Connection<unknown>, "sql">,
  rounds: number,
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  rounds === 0
    ? call
    : Effect.gen(function* () {
        const say = (statement: string) => Effect.orDie(sql.unsafe(statement).unprepared)
        yield* say("begin")
        const end = yield* Effect.result(call)
        if (Result.isFailure(end)) {
          yield* say("rollback")
          return yield* call
        }
        for (let round = 0; round < rounds; round++) yield* say("select")
        yield* say("commit")
        return end.success
      })
