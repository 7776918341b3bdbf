import { Clock, Effect, Layer } from "effect"

import { Leadership, LeaseStore } from "../../ports/leadership.ts"

interface Lease {
  readonly holder: string
  readonly term: number
  readonly expiresAt: number
}

/** Leases in memory on Effect's `Clock`; several "processes" can share them. */
export const makeLeases = (): LeaseStore["Service"] => {
  const leases = new Map<string, Lease>()
  const now = Clock.currentTimeMillis
  return LeaseStore.of({
    take: ({ holder, name }, ttlMs) =>
      Effect.map(now, (at) => {
        const lease = leases.get(name)
        if (lease !== undefined && lease.holder !== holder && lease.expiresAt > at) return undefined
        const term = (lease?.term ?? 0) + 1
        leases.set(name, { holder, term, expiresAt: at + ttlMs })
        return term
      }),
    renew: ({ holder, name }, term, ttlMs) =>
      Effect.map(now, (at) => {
        const lease = leases.get(name)
        if (lease?.holder !== holder || lease.term !== term || lease.expiresAt <= at) return false
        leases.set(name, { holder, term, expiresAt: at + ttlMs })
        return true
      }),
    release: ({ holder, name }) =>
      Effect.map(now, (at) => {
        const lease = leases.get(name)
        if (lease?.holder !== holder || lease.expiresAt <= at) return false
        leases.set(name, { ...lease, expiresAt: Number.NEGATIVE_INFINITY })
        return true
      })
  })
}

/** Leases of one process alone. */
export const layer: Layer.Layer<LeaseStore> = Layer.sync(LeaseStore, makeLeases)

/** A process that leads for ever, in term 1: for tests of parts without an election. */
export const layerAlways: Layer.Layer<Leadership> = Layer.succeed(
  Leadership,
  Leadership.of({ term: Effect.succeed(1), whileLeading: (work) => Effect.as(work, true) })
)
