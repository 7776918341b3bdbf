import type { Vitest } from "@effect/vitest"
import { assert } from "@effect/vitest"
import { Context, Effect } from "effect"

import type { EventEntry } from "../../../../src/adapters/memory/mail/tables.ts"
import type { ClaimDecision, ClaimState } from "../../../../src/domain/mail/claim.ts"
import { type SendDetails, tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import type { Provider } from "../../../../src/domain/mail/provider.ts"
import type { SendResult, SendStatus } from "../../../../src/domain/mail/send-result.ts"
import type { BeginSend, RecordSend } from "../../../../src/ports/mail/mail-store.ts"
import { anyId } from "../../../support/any-id.ts"
import type { MailWorld } from "../../../support/worlds/mail-world.ts"

/** The store that the suite runs on. */
export class Mails extends Context.Service<Mails, MailWorld>()("postlane/test/Mails") {}

/** How a chapter of the suite writes its tests. */
export type MailTests = Vitest.MethodsNonLive<Mails>

/** How long the suite's calls hold a key. */
export const LEASE_MS = 60_000

let serial = 0
/** A text that no other test has. */
export const fresh = (name: string) => `${name}-${process.pid}-${(serial += 1)}`
/** A row id. */
export const rowId = () => anyId()

/** A mail that no other test has. */
export interface Mail {
  readonly details: SendDetails
}

export const mail = (overrides: Partial<SendDetails> = {}): Mail => {
  const key = fresh("key")
  return {
    details: {
      category: "transactional",
      source: "api:test",
      from: "noreply@postlane.test",
      to: [`${fresh("to")}@x.test`],
      others: [],
      subject: "a subject",
      idempotencyKey: anyId(key),
      keyHash: anyId(`hash-of-${key}`),
      keyTag: anyId(`tag-of-${key}`),
      ...overrides
    }
  }
}

/** What the library records of an attempt. */
export const attempt = (
  { details }: Mail,
  outcome: SendStatus,
  overrides: Partial<RecordSend> = {}
): RecordSend => ({
  rowId: rowId(),
  details,
  outcome,
  provider: "provider_a",
  providerMessageId: null,
  failedOver: false,
  error: outcome === "failed" || outcome === "suppressed" ? "why" : null,
  errorKind: outcome === "failed" ? "rejected" : null,
  costUsd: outcome === "sent" ? 0.0004 : null,
  attempts: [],
  retryAt: null,
  settle: undefined,
  ...overrides
})

export const resultOf = (
  status: SendStatus,
  idempotencyKey: string,
  kind: "rejected" | "ambiguous" = "rejected"
): SendResult => {
  const common = {
    sendId: anyId("00000000-0000-4000-8000-000000000000"),
    provider: "provider_a" as const,
    failedOver: false,
    idempotencyKey,
    suppressedRecipients: []
  }
  switch (status) {
    case "sent":
      return { ok: true, status, providerMessageId: "m", ...common }
    case "deferred":
      return { ok: true, status, providerMessageId: null, ...common }
    case "suppressed":
      return { ok: false, status, error: "why", providerMessageId: null, ...common }
    case "failed":
      return { ok: false, status, error: "why", kind, providerMessageId: null, ...common }
  }
}

/** A call that claims the key of a mail. */
export const asking = (
  { details }: Mail,
  claim: Partial<NonNullable<BeginSend["claim"]>> = {}
): BeginSend & { readonly claim: NonNullable<BeginSend["claim"]> } => ({
  keyHash: details.keyHash,
  addresses: [...details.to, ...details.others],
  claim: {
    payloadHash: "payload",
    provider: "provider_a",
    owner: rowId(),
    leaseMs: LEASE_MS,
    tag: tagOf(details),
    known: undefined,
    ...claim
  }
})

/** A retry of a deferred mail. */
export const retrying = ({ details }: Mail, provider: Provider = "provider_a") => ({
  keyHash: details.keyHash,
  tag: tagOf(details),
  firstAttemptAt: undefined,
  ageMs: 0,
  provider,
  rowId: rowId(),
  addresses: [...details.to],
  owner: rowId(),
  leaseMs: LEASE_MS
})

/** When the first attempt of the use was that a decision is about. */
export const firstAttemptOf = (decision: ClaimDecision): number =>
  decision._tag === "Claimed" || decision._tag === "Replay" ? decision.firstAttemptAt : Number.NaN

export const lastAttemptOf = (decision: ClaimDecision): number =>
  decision._tag === "Claimed" || decision._tag === "Replay" ? decision.lastAttemptAt : Number.NaN

/** How a call settles its claim, by the provider that it asked first. */
export const settling = (
  begun: { readonly claim: { readonly owner: string; readonly provider: Provider } },
  { details }: Mail,
  state: ClaimState,
  status: SendStatus,
  kind?: "rejected" | "ambiguous"
): NonNullable<RecordSend["settle"]> => ({
  owner: begun.claim.owner,
  state,
  ambiguous: state === "ambiguous" || state === "deferred",
  result: { ...resultOf(status, details.idempotencyKey, kind), provider: begun.claim.provider }
})
/** The rows of a mail. */
export const rowsOf = ({ details }: Mail) =>
  Mails.use(({ rows }) => Effect.map(rows, (all) => all.filter(({ keyHash }) => keyHash === details.keyHash)))

/** The only row of a mail. */
export const oneRow = (one: Mail) =>
  Effect.map(rowsOf(one), (rows) => {
    assert.lengthOf(rows, 1)
    return rows[0]!
  })

/** An event of provider A. */
export const event = (messageId: string, kind: string, more: Partial<EventEntry> = {}): EventEntry => ({
  provider: "provider_a",
  providerMessageId: messageId,
  event: kind,
  ...more
})
