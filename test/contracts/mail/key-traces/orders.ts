import { createHash } from "node:crypto"

import type { Vitest } from "@effect/vitest"
import { assert } from "@effect/vitest"
import { Effect } from "effect"

import type { DeferredSend } from "../../../../src/domain/mail/deferred-send.ts"
import type { SendResult } from "../../../../src/domain/mail/send-result.ts"
import { anyId } from "../../../support/any-id.ts"
import { makeKeyWorld } from "../../../support/worlds/key-world.ts"
import { attempt, fresh, Mails } from "../mail-store/mails.ts"

/** How a chapter of the suite writes its tests. */
export type KeyTests = Vitest.MethodsNonLive<Mails>

export const HOUR_MS = 3_600_000
export const MINUTE_MS = 60_000
/** Longer than the lease of a call. */
export const STALL_MS = MINUTE_MS

export const order = () => ({
  to: `${fresh("to")}@x.test`,
  subject: "Hello",
  text: "t",
  category: "transactional" as const,
  source: "api:test",
  idempotencyKey: fresh("order")
})

export const isDoubtful = (result: SendResult) =>
  assert.deepInclude(result, { ok: false, status: "failed", kind: "ambiguous" })

export const attemptOf = (messages: ReadonlyArray<DeferredSend>, retry: number) =>
  messages.findLast((message) => message.attempt === retry)!

/** A world on the suite's store. */
export const world = (options: Parameters<typeof makeKeyWorld>[1]) =>
  Mails.use((mails) => makeKeyWorld(mails, options))

export const aFirst = { primary: "provider_a", fallback: "provider_b" } as const
export const bFirst = { primary: "provider_b", fallback: "provider_a" } as const

/** The row of an acceptance whose claim was not settled. */
export const unfinished = (mail: ReturnType<typeof order>) =>
  attempt(
    {
      details: {
        category: mail.category,
        source: mail.source,
        from: "noreply@postlane.test",
        to: [mail.to],
        others: [],
        subject: mail.subject,
        idempotencyKey: anyId(mail.idempotencyKey),
        keyHash: anyId(createHash("sha256").update(mail.idempotencyKey).digest("hex")),
        keyTag: null
      }
    },
    "sent"
  )

/** The rows of a key, oldest first. */
export const rowsOf = (key: string) =>
  Mails.use(({ rows }) =>
    Effect.map(rows, (all) => all.filter(({ idempotencyKey }) => idempotencyKey === key))
  )
