import { Effect, Layer, Stream } from "effect"

import { BatchService } from "../../../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { BatchObjects } from "../../../../src/ports/object-store.ts"

/** A process that died. */
export class Crash extends Error {}

/** Lets the driver's calls through, and kills it before or after the one that is named, counted from 1. */
export interface Gate {
  calls: number
  at: number | undefined
  mode: "before" | "after"
}

const passing =
  (gate: Gate) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      gate.calls += 1
      if (gate.calls !== gate.at) return call
      const crash = Effect.die(new Crash())
      return gate.mode === "before" ? crash : Effect.andThen(call, crash)
    })

/** Every effect and stream that a port gives goes through the gate. */
const gated = <S extends object>(service: S, gate: Gate): S => {
  const pass = passing(gate)
  const through = (value: unknown): unknown => {
    if (Effect.isEffect(value)) return pass(value)
    return Stream.isStream(value) ? Stream.unwrap(pass(Effect.succeed(value))) : value
  }
  return new Proxy(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      return typeof member === "function"
        ? (...parameters: ReadonlyArray<unknown>) => through(Reflect.apply(member, target, parameters))
        : through(member)
    }
  })
}

/** The driver's ports behind a gate; whatever the batch service does by itself goes on. */
export const behindGate = (gate: Gate) =>
  Layer.mergeAll(
    Layer.effect(
      BatchStore,
      Effect.map(BatchStore, (store) => gated(store, gate))
    ),
    Layer.effect(
      BatchService,
      Effect.map(BatchService, (service) => gated(service, gate))
    ),
    Layer.effect(
      BatchObjects,
      Effect.map(BatchObjects, (objects) => gated(objects, gate))
    )
  )
