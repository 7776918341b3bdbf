import { createHash } from "node:crypto"

import { Context, Duration, Effect } from "effect"

import type { CustomerId, LeaseId, MailId } from "../../../../src/domain/ids.ts"
import type { MailOutcome } from "../../../../src/domain/inbound/mail-outcome.ts"
import type { ReplyContent } from "../../../../src/domain/inbound/reply-content.ts"
import type { Accounts } from "../../../../src/ports/accounts/accounts.ts"
import { type ClaimedMail, IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { type DocumentsWorld, pass, STALE, WINDOW } from "../../conversion/documents-world.ts"

/** A mail's row. */
interface MailSeen {
  readonly step: string
  readonly outcome: string | null
  readonly reason: string | null
  readonly attempts: number
  readonly failures: number
  readonly pages: number | null
}

/** What the suite reads of mails and their replies. */
export class IntakeWorld extends Context.Service<
  IntakeWorld,
  {
    readonly mail: (id: MailId) => Effect.Effect<MailSeen | undefined>
    /** Oldest first. */
    readonly replies: (
      mailId: MailId
    ) => Effect.Effect<ReadonlyArray<{ readonly content: ReplyContent; readonly status: string }>>
    /** The log entry of a mail's conversion. */
    readonly logged: (mailId: MailId) => Effect.Effect<
      | {
          readonly status: string
          readonly sender: string | null
          readonly totalPages: number
          readonly creditsCharged: number
          readonly error: string | null
        }
      | undefined
    >
  }
>()("postlane/test/IntakeWorld") {}

const hash = (text: string) => createHash("sha256").update(text).digest("hex")
/** The address that a customer writes from. */
export const emailOf = (customerId: CustomerId) => `${customerId}@x.test`
/** A mail's row as the world sees it. */
export const mailOf = (id: MailId) => IntakeWorld.use((world) => world.mail(id))
/** The replies to a mail, the oldest first. */
export const repliesTo = (id: MailId) => IntakeWorld.use((world) => world.replies(id))
/** The kinds of the replies to a mail. */
export const kinds = (id: MailId) =>
  Effect.map(repliesTo(id), (replies) => replies.map(({ content }) => content.kind))

/** The object store that holds the mails. */
export const HOME = "bucket"

/** A mail that was received from a verified sender. */
export const receivedFrom = Effect.fnUntraced(function* (
  verifiedSender: string | undefined,
  ended?: { readonly outcome: MailOutcome; readonly reason: string },
  home = HOME
) {
  const store = yield* IntakeStore
  const id = anyId()
  yield* store.receive({
    id,
    rawKey: `mails/${id}/raw.eml`,
    rawBytes: 5,
    envelopeFrom: "a@x.test",
    peerTrusted: true,
    home,
    verifiedSender,
    ended
  })
  return id
})

/** A mail whose sender nobody knows. */
export const received = Effect.suspend(() => receivedFrom(undefined))

/** Claims the next mail of a step. */
export const claim = (
  step: "received" | "converting",
  lease: LeaseId = anyId(),
  stale = STALE,
  home = HOME
) => IntakeStore.use((store) => store.claim(step, lease, stale, home))

/** A mail that was received and claimed. */
export const taken = Effect.gen(function* () {
  yield* received
  const mail = yield* claim("received")
  return mail ?? (yield* Effect.die(new Error("no mail to claim")))
})

/** What identifies a mail of that name. */
export const identityOf = (name: string, sender: string, signatures: ReadonlyArray<string> = []) => ({
  identity: hash(name),
  signatures: signatures.map(hash),
  messageId: `<${name}@x.test>`,
  sender,
  contentSha256: hash("content"),
  subject: "Subject",
  references: undefined
})

/** The reply that acknowledges a mail of three pages. */
export const STARTED: ReplyContent = { kind: "processing-started", fileName: "a.pdf", pages: 3, ignored: [] }
const DONE: ReplyContent = {
  kind: "success",
  fileName: "a.pdf",
  pages: 3,
  creditsCharged: 0,
  balance: 0,
  ignored: []
}
/** The reply that says how to send a file. */
export const HINT: ReplyContent = { kind: "no-attachment", convertAddress: "convert@x.test" }

/** An end without a result. */
export const ERROR = { outcome: "error", reason: "r" } as const
/** What a mail is put off by. */
export const OUTAGE = {
  after: Duration.minutes(1),
  part: "objects",
  gap: Duration.minutes(10),
  limit: Duration.minutes(30),
  window: WINDOW
} as const

/** Admits a mail of a customer, with its funds. */
export const admit = (mail: Pick<ClaimedMail, "id" | "lease">, customerId: CustomerId, pages: number) =>
  IntakeStore.use((store) =>
    store.admit(mail, {
      customerId,
      filename: "a.pdf",
      fileBytes: 100,
      pages,
      ignored: ["b.png"],
      sourceKey: `mails/${mail.id}/source.pdf`,
      recipient: emailOf(customerId),
      acknowledgement: STARTED,
      window: WINDOW
    })
  )

/** Admits so many mails of a customer, of so many pages each; their ids. */
export const admitted = Effect.fnUntraced(function* (owner: CustomerId, count: number, pages = 1) {
  const store = yield* IntakeStore
  const ids: Array<MailId> = []
  for (let n = 0; n < count; n++) {
    const mail = yield* taken
    yield* store.identify(mail, identityOf(mail.id, emailOf(owner)), 100)
    if ((yield* admit(mail, owner, pages)) !== "admitted")
      return yield* Effect.die(new Error("the mail was not admitted"))
    ids.push(mail.id)
    yield* pass(Duration.millis(5))
  }
  return ids
})

/** A mail whose conversion has begun, held by a worker. */
export const converting = Effect.fnUntraced(function* (customerId: CustomerId, pages: number) {
  const [id] = yield* admitted(customerId, 1, pages)
  const held = yield* claim("converting")
  return held !== undefined && held.id === id
    ? held
    : yield* Effect.die(new Error("another mail was claimed"))
})

/** Ends a mail's conversion with its result. */
export const finish = (
  mail: Pick<ClaimedMail, "id" | "lease">,
  customerId: CustomerId,
  pages: number,
  options: { readonly asLink?: boolean; readonly unreadable?: ReadonlyArray<number> } = {}
) =>
  IntakeStore.use((store) =>
    store.finish(mail, {
      standardPages: pages,
      complexPages: 0,
      resultKey: `mails/${mail.id}/result.html`,
      resultBytes: 7,
      recipient: emailOf(customerId),
      reply: options.unreadable === undefined ? DONE : { ...DONE, unreadablePages: options.unreadable },
      asLink: options.asLink ?? false
    })
  )

/** Sends every reply that is due. */
export const sendReplies = Effect.gen(function* () {
  const store = yield* IntakeStore
  while (true) {
    const reply = yield* store.claimReply(anyId(), Duration.minutes(5), HOME)
    if (reply === undefined) return
    yield* store.replySent(reply)
  }
})

/** What the suite runs on. */
export type Stores = IntakeStore | Accounts | DocumentsWorld | IntakeWorld
