/** How the row of an attempt that proves nothing was accepted moves its request, at every age. */
import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"

import { moveOf } from "../../../src/application/send-queue/queued-work.ts"
import { IdempotencyKey, LeaseId, LogRowId, QueueId } from "../../../src/domain/ids.ts"
import { recordOf } from "../../model/queue/sender.ts"
import { workOf } from "../../model/queue/state.ts"

const MAX_AGE_MS = 24 * 3_600_000
const ID = "00000000-0000-4000-8000-000000000001"

const moved = (ageMs: number, refusals: number, isAsked: boolean, random: number) => {
  const mail = {
    id: QueueId.make(ID),
    lease: LeaseId.make(ID),
    idempotencyKey: IdempotencyKey.make("order-1"),
    request: {},
    deferral: undefined,
    tried: [],
    deaths: 0,
    refusals,
    waitMs: 0,
    ageMs,
    expiresInMs: undefined
  }
  const work = Object.assign(workOf(mail, 0), { isAsked, isUnasked: !isAsked })
  const result = {
    ok: false,
    status: "failed",
    kind: "unavailable",
    error: "no",
    provider: "provider_a",
    providerMessageId: null,
    failedOver: false,
    sendId: LogRowId.make(ID),
    idempotencyKey: "order-1",
    suppressedRecipients: []
  } as const
  const row = recordOf(result, { owner: ID, state: "refused", ambiguous: false, result }, { asked: 0 })
  const config = { maxAgeMs: MAX_AGE_MS, concurrency: 1, paces: [] }
  return moveOf({ config, now: () => 0, random: () => random }, work, row)
}

const AGE = fc.integer({ min: 0, max: 3 * MAX_AGE_MS })
const RANDOM = fc.double({ min: 0, max: 1, noNaN: true })

it("a request whose turns have all passed goes back within seconds, however old it is: it never ends unasked (QUEUE-10)", () => {
  fc.assert(
    fc.property(AGE, RANDOM, (ageMs, random) => {
      const { dueMs, refusals, state } = moved(ageMs, 0, false, random)
      assert.deepStrictEqual({ state, refusals }, { state: "queued", refusals: 0 })
      assert.isBelow(dueMs ?? Number.NaN, 5_000)
    })
  )
})

it("one that was refused ends once its age is over, whether its last turn has passed or not (QUEUE-10)", () => {
  fc.assert(
    fc.property(
      AGE,
      RANDOM,
      fc.boolean(),
      fc.integer({ min: 1, max: 50 }),
      (ageMs, random, isAsked, refusals) => {
        const { state } = moved(ageMs, refusals, isAsked, random)
        assert.strictEqual(state, ageMs + 1_000 < MAX_AGE_MS ? "queued" : "failed")
      }
    )
  )
})
