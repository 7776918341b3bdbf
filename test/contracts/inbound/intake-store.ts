/**
 * `IntakeStore`: a mail is one, however often it comes; it is claimed by one worker, charged once, and answered in order.
 *
 * Adapters: memory, postgres. Rules: I1, I2, I4, INBOUND-5, INBOUND-7, INBOUND-8, INBOUND-10, INBOUND-12, INBOUND-14.
 */
import { createHash } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Context, Duration, Effect, type Layer } from "effect"

import type { CustomerId, LeaseId, MailId } from "../../../src/domain/ids.ts"
import type { ReplyContent } from "../../../src/domain/inbound/reply-content.ts"
import { Accounts } from "../../../src/ports/accounts/accounts.ts"
import { type ClaimedMail, IntakeStore, type MailEnd } from "../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../support/any-id.ts"
import { clean, customer, DocumentsWorld, funds, pass, STALE, WINDOW } from "../conversion/documents-world.ts"

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
const emailOf = (customerId: CustomerId) => `${customerId}@x.test`
const mailOf = (id: MailId) => IntakeWorld.use((world) => world.mail(id))
const repliesTo = (id: MailId) => IntakeWorld.use((world) => world.replies(id))
const kinds = (id: MailId) =>
  Effect.map(repliesTo(id), (replies) => replies.map(({ content }) => content.kind))

/** A mail that was received. */
const received = Effect.gen(function* () {
  const store = yield* IntakeStore
  const id = anyId()
  yield* store.receive({
    id,
    rawKey: `mails/${id}/raw.eml`,
    rawBytes: 5,
    envelopeFrom: "a@x.test",
    peerTrusted: true
  })
  return id
})

const claim = (step: "received" | "converting", lease: LeaseId = anyId(), stale = STALE) =>
  IntakeStore.use((store) => store.claim(step, lease, stale))

/** A mail that was received and claimed. */
const taken = Effect.gen(function* () {
  yield* received
  const mail = yield* claim("received")
  return mail ?? (yield* Effect.die(new Error("no mail to claim")))
})

const identityOf = (name: string, sender: string, signatures: ReadonlyArray<string> = []) => ({
  identity: hash(name),
  signatures: signatures.map(hash),
  messageId: `<${name}@x.test>`,
  sender,
  contentSha256: hash("content"),
  subject: "Subject",
  references: undefined
})

const STARTED: ReplyContent = { kind: "processing-started", fileName: "a.pdf", pages: 3, ignored: [] }
const DONE: ReplyContent = {
  kind: "success",
  fileName: "a.pdf",
  pages: 3,
  creditsCharged: 0,
  balance: 0,
  ignored: []
}
const HINT: ReplyContent = { kind: "no-attachment", convertAddress: "convert@x.test" }

const admit = (mail: Pick<ClaimedMail, "id" | "lease">, customerId: CustomerId, pages: number) =>
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

/** A mail whose conversion has begun, held by a worker. */
const converting = Effect.fnUntraced(function* (customerId: CustomerId, pages: number) {
  const mail = yield* taken
  const store = yield* IntakeStore
  yield* store.identify(mail, identityOf(mail.id, emailOf(customerId)), 100)
  const answer = yield* admit(mail, customerId, pages)
  if (answer !== "admitted") return yield* Effect.die(new Error("the mail was not admitted"))
  const held = yield* claim("converting")
  return held?.id === mail.id ? held : yield* Effect.die(new Error("another mail was claimed"))
})

const finish = (
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
const sendReplies = Effect.gen(function* () {
  const store = yield* IntakeStore
  while (true) {
    const reply = yield* store.claimReply(anyId(), Duration.minutes(5))
    if (reply === undefined) return
    yield* store.replySent(reply)
  }
})

type Stores = IntakeStore | Accounts | DocumentsWorld | IntakeWorld

const leases = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`mails under way: ${name}`, (it) => {
    it.effect(
      "a mail is received once, and claimed by one worker; the one that is due for longest goes first",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const [first, second] = [yield* received, yield* received]
          yield* store.receive({
            id: first,
            rawKey: "other",
            rawBytes: 9,
            envelopeFrom: "",
            peerTrusted: false
          })
          const lease = anyId()
          const mail = yield* claim("received", lease)
          assert.deepStrictEqual(mail, {
            id: first,
            lease,
            rawKey: `mails/${first}/raw.eml`,
            rawBytes: 5,
            envelopeFrom: "a@x.test",
            peerTrusted: true,
            attempts: 1,
            failures: 0,
            sender: undefined,
            job: undefined
          })
          assert.deepStrictEqual(yield* claim("received", lease), mail, "the same claim again")
          assert.strictEqual((yield* claim("received"))?.id, second)
          assert.isUndefined(yield* claim("received"))
          assert.isUndefined(yield* claim("converting"))
        })
    )

    it.effect("a worker that goes silent loses its mail, and that counts as an attempt", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const slow = yield* taken
        yield* pass(Duration.seconds(50))
        assert.isTrue(yield* store.heartbeat(slow, WINDOW))
        yield* pass(Duration.seconds(50))
        assert.isUndefined(yield* claim("received"))
        yield* pass(Duration.seconds(20))
        const next = yield* claim("received")
        assert.deepStrictEqual([next?.id, next?.attempts], [slow.id, 2])
        assert.isFalse(yield* store.heartbeat(slow, WINDOW))
        assert.isFalse(yield* store.handBack(slow, { after: Duration.zero, counts: true }))
        const end = { outcome: "error", reason: "r" } as const
        assert.isFalse(yield* store.end(slow, end))
        assert.strictEqual(yield* finish(slow, anyId(), 1), "stale")
        assert.strictEqual(yield* store.identify(slow, identityOf("i", "a@x.test"), 9), "stale")
        assert.strictEqual(yield* admit(slow, anyId(), 1), "stale")
        assert.isTrue(yield* store.handBack(next!, { after: Duration.minutes(1), counts: false }))
        assert.isUndefined(yield* claim("received"))
        yield* pass(Duration.minutes(2))
        const again = yield* claim("received")
        assert.strictEqual(again?.attempts, 2)
        assert.isTrue(yield* store.handBack(again!, { after: Duration.zero, counts: true }))
        assert.strictEqual((yield* claim("received"))?.attempts, 3)
      })
    )

    it.effect(
      "a dependency that fails costs no attempt, until it has failed for too long without a gap",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          yield* received
          const options = {
            after: Duration.minutes(1),
            part: "objects",
            gap: Duration.minutes(10),
            limit: Duration.minutes(30),
            window: WINDOW
          } as const
          const defer = (part: "objects" | "pipeline" = "objects") =>
            Effect.gen(function* () {
              const mail = (yield* claim("received"))!
              return [
                mail.attempts,
                mail.failures,
                yield* store.defer(mail, { ...options, part }),
                mail
              ] as const
            })
          assert.deepStrictEqual((yield* defer()).slice(0, 3), [1, 0, "deferred"])
          yield* pass(Duration.minutes(9))
          assert.deepStrictEqual((yield* defer()).slice(0, 3), [1, 1, "deferred"])
          yield* pass(Duration.minutes(11))
          assert.deepStrictEqual((yield* defer()).slice(0, 3), [1, 2, "deferred"], "a gap: another outage")
          for (let n = 0; n < 3; n++) {
            yield* pass(Duration.minutes(9))
            assert.strictEqual((yield* defer())[2], "deferred")
          }
          yield* pass(Duration.minutes(9))
          const [, , answer, mail] = yield* defer()
          assert.strictEqual(answer, "over")
          assert.isTrue(yield* store.heartbeat(mail, WINDOW), "nothing was written")
          assert.strictEqual(yield* store.defer(mail, { ...options, part: "pipeline" }), "deferred")
          assert.strictEqual(yield* store.defer(mail, options), "stale")
        })
    )

    it.effect("a worker that was taken for dead and reports a failure takes its attempt back", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const slow = yield* taken
        yield* pass(Duration.minutes(2))
        const next = (yield* claim("received"))!
        assert.strictEqual(next.attempts, 2)
        const options = {
          after: Duration.zero,
          part: "database",
          gap: Duration.minutes(10),
          limit: Duration.minutes(30),
          window: WINDOW
        } as const
        assert.strictEqual(yield* store.defer(slow, options), "stale")
        assert.strictEqual((yield* mailOf(slow.id))?.attempts, 1)
        assert.strictEqual(yield* store.defer(slow, options), "stale")
        assert.strictEqual((yield* mailOf(slow.id))?.attempts, 1, "once")
        assert.isTrue(yield* store.heartbeat(next, WINDOW))
      })
    )

    it.effect(
      "two deliveries of one mail are one: by identity, by any signature; a mail of its own is not",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const identify = (given: ReturnType<typeof identityOf>) =>
            Effect.gen(function* () {
              const mail = yield* taken
              const answer = yield* store.identify(mail, given, 100)
              const again = yield* store.identify(mail, given, 100)
              const row = yield* mailOf(mail.id)
              return [answer, again, row?.step, row?.outcome]
            })
          const fresh = ["claimed", "claimed", "received", null]
          const duplicate = ["duplicate", "stale", "ended", "duplicate"]
          assert.deepStrictEqual(yield* identify(identityOf("one", "a@x.test", ["s1", "s2"])), fresh)
          assert.deepStrictEqual(yield* identify(identityOf("one", "a@x.test")), duplicate)
          assert.deepStrictEqual(yield* identify(identityOf("two", "a@x.test", ["s3", "s2"])), duplicate)
          assert.deepStrictEqual(yield* identify(identityOf("two", "a@x.test", ["s3"])), fresh)
        })
    )

    it.effect("a sender has so many mails an hour; duplicates and refused ones do not count", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        let made = 0
        const next = Effect.gen(function* () {
          const mail = yield* taken
          return yield* store.identify(mail, identityOf(`m${(made += 1)}`, "a@x.test"), 2)
        })
        assert.deepStrictEqual([yield* next, yield* next, yield* next], ["claimed", "claimed", "limited"])
        made = 0
        assert.strictEqual(yield* next, "duplicate")
        const other = yield* taken
        assert.strictEqual(yield* store.identify(other, identityOf("o", "b@x.test"), 2), "claimed")
        made = 10
        yield* pass(Duration.minutes(61))
        assert.strictEqual(yield* next, "claimed")
      })
    )
  })

const money = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`mails and their funds: ${name}`, (it) => {
    it.effect(
      "an admitted mail has its funds set aside and its acknowledgement queued; the rest is not enough",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const owner = yield* customer(5)
          const mail = yield* converting(owner, 3)
          assert.deepStrictEqual(
            [mail.attempts, mail.failures, mail.sender, mail.job],
            [
              1,
              0,
              emailOf(owner),
              {
                customerId: owner,
                filename: "a.pdf",
                fileBytes: 100,
                pages: 3,
                ignored: ["b.png"],
                sourceKey: `mails/${mail.id}/source.pdf`
              }
            ]
          )
          assert.strictEqual(yield* admit(mail, owner, 3), "admitted", "the same call again")
          assert.deepStrictEqual(yield* funds(owner), { credits: 5, held: 3, charged: 0 })
          assert.deepStrictEqual(yield* kinds(mail.id), ["processing-started"])
          const other = yield* taken
          assert.deepStrictEqual(yield* admit(other, owner, 3), { plan: "paid", balance: 2 })
          assert.deepStrictEqual(yield* kinds(other.id), [])
          assert.deepStrictEqual(yield* store.customer(emailOf(owner)), {
            id: owner,
            email: emailOf(owner),
            plan: "paid",
            balance: 2
          })
        })
    )

    it.effect("a result is charged once, with its reply and its log entry, which says what is left", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* IntakeWorld
        const owner = yield* customer(10)
        const mail = yield* converting(owner, 3)
        assert.strictEqual(yield* finish({ ...mail, lease: anyId() }, owner, 3), "stale")
        assert.strictEqual(yield* finish(mail, owner, 2, { unreadable: [3] }), "completed")
        assert.strictEqual(yield* finish(mail, owner, 2, { unreadable: [3] }), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
        const [, reply] = yield* repliesTo(mail.id)
        assert.deepInclude(reply?.content, { kind: "success", creditsCharged: 2, balance: 8 })
        assert.deepInclude(yield* world.logged(mail.id), {
          status: "success",
          sender: emailOf(owner),
          totalPages: 3,
          creditsCharged: 2
        })
        const row = yield* mailOf(mail.id)
        assert.deepStrictEqual([row?.step, row?.outcome, row?.pages], ["ended", "success", 3])
        assert.isTrue(
          yield* IntakeStore.use((store) => store.end(mail, { outcome: "error", reason: "late" })),
          "this lease has ended it"
        )
        assert.strictEqual((yield* mailOf(mail.id))?.outcome, "success")
      })
    )

    it.effect(
      "more pages than were set aside are charged where the funds suffice, and end nothing where not",
      () =>
        Effect.gen(function* () {
          yield* clean
          const owner = yield* customer(5)
          const mail = yield* converting(owner, 2)
          assert.deepStrictEqual(yield* finish(mail, owner, 6), { plan: "paid", balance: 5 })
          assert.strictEqual((yield* mailOf(mail.id))?.step, "converting")
          assert.strictEqual(yield* finish(mail, owner, 5), "completed")
          assert.deepStrictEqual(yield* funds(owner), { credits: 0, held: 0, charged: 5 })
          const free = yield* customer("free")
          const small = yield* converting(free, 2)
          assert.deepStrictEqual(yield* finish(small, free, 11), { plan: "free", balance: 10 })
        })
    )

    it.effect("a hold that has lapsed is charged while the funds suffice", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const owner = yield* customer(3)
        const mail = yield* converting(owner, 2)
        yield* world.lapsesIn(mail.id, -1)
        yield* world.spend(owner, 2)
        assert.deepStrictEqual(yield* finish(mail, owner, 2), { plan: "paid", balance: 1 })
        assert.strictEqual(yield* finish(mail, owner, 1), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 0, held: 0, charged: 1 })
      })
    )

    it.effect(
      "an end without a result releases the funds, queues its reply and logs a failed conversion, once",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* IntakeWorld
          const store = yield* IntakeStore
          const owner = yield* customer(10)
          const mail = yield* converting(owner, 3)
          const end: MailEnd = {
            outcome: "error",
            reason: "it is broken",
            jobError: "broken",
            reply: {
              recipient: emailOf(owner),
              content: { kind: "error", fileName: "a.pdf", reason: "it is broken" }
            }
          }
          assert.isTrue(yield* store.end(mail, end))
          assert.isTrue(yield* store.end(mail, end))
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          assert.deepStrictEqual(yield* kinds(mail.id), ["processing-started", "error"])
          assert.deepInclude(yield* world.logged(mail.id), {
            status: "error",
            totalPages: 3,
            creditsCharged: 0,
            error: "broken"
          })
          assert.strictEqual((yield* mailOf(mail.id))?.reason, "it is broken")
          assert.strictEqual(yield* finish(mail, owner, 3), "stale")
          assert.isUndefined(yield* claim("converting", anyId(), Duration.zero))
        })
    )
  })

const replies = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`replies to mails: ${name}`, (it) => {
    const ended = (reply: MailEnd["reply"]) =>
      Effect.gen(function* () {
        const store = yield* IntakeStore
        const mail = yield* taken
        yield* store.end(mail, { outcome: "no_attachment", reason: "r", reply })
        return mail.id
      })

    it.effect("a stranger is answered once a day", () =>
      Effect.gen(function* () {
        yield* clean
        const content = {
          kind: "unregistered",
          address: "who@x.test",
          registerUrl: "https://p.test"
        } as const
        const stranger = ended({ recipient: "who@x.test", content, stranger: true })
        assert.deepStrictEqual(yield* kinds(yield* stranger), ["unregistered"])
        assert.deepStrictEqual(yield* kinds(yield* stranger), [])
        yield* pass(Duration.hours(25))
        assert.deepStrictEqual(yield* kinds(yield* stranger), ["unregistered"])
      })
    )

    it.effect(
      "replies that only explain how to send a file are braked within the hour, and the log says so",
      () =>
        Effect.gen(function* () {
          yield* clean
          const hint = ended({ recipient: "who@x.test", content: HINT, brake: 2 })
          assert.deepStrictEqual(yield* kinds(yield* hint), ["no-attachment"])
          assert.deepStrictEqual(yield* kinds(yield* hint), ["no-attachment"])
          const third = yield* hint
          assert.deepStrictEqual(yield* kinds(third), [])
          assert.strictEqual(
            (yield* mailOf(third))?.reason,
            "r (not answered: 2 such replies within an hour)"
          )
          yield* pass(Duration.minutes(61))
          assert.deepStrictEqual(yield* kinds(yield* hint), ["no-attachment"])
        })
    )

    it.effect("replies of a mail go out in their order, each held by one sender until its time is over", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const mail = yield* converting(owner, 3)
        yield* finish(mail, owner, 3)
        const send = store.claimReply(anyId(), Duration.minutes(5))
        const first = yield* send
        assert.deepInclude(first, {
          mailId: mail.id,
          recipient: emailOf(owner),
          content: STARTED,
          asLink: false,
          attempts: 1,
          unknowns: 0,
          messageId: `<${mail.id}@x.test>`,
          subject: "Subject",
          references: undefined,
          filename: "a.pdf",
          result: { key: `mails/${mail.id}/result.html`, bytes: 7 }
        })
        assert.isUndefined(yield* send, "the result's reply waits for the acknowledgement")
        yield* pass(Duration.minutes(6))
        const second = yield* store.claimReply(anyId(), Duration.minutes(5))
        assert.deepStrictEqual([second?.id, second?.attempts], [first?.id, 2])
        assert.isFalse(yield* store.replySent({ id: first!.id, lease: anyId() }))
        assert.isTrue(yield* store.replySent(second!))
        assert.isFalse(yield* store.replySent(second!))
        const result = yield* send
        assert.strictEqual(result?.content.kind, "success")
        const retry = { after: Duration.minutes(2), error: "too large", asLink: true, unknown: true }
        assert.isTrue(yield* store.retryReply(result!, retry))
        assert.isFalse(yield* store.retryReply(result!, retry))
        assert.isUndefined(yield* send)
        yield* pass(Duration.minutes(3))
        const again = yield* send
        assert.deepStrictEqual([again?.asLink, again?.unknowns, again?.attempts], [true, 1, 2])
        assert.isTrue(yield* store.retryReply(again!, { ...retry, asLink: false, unknown: false }))
        yield* pass(Duration.minutes(3))
        const last = yield* send
        assert.deepStrictEqual([last?.asLink, last?.unknowns], [true, 1])
        assert.isTrue(yield* store.replyFailed(last!, "refused"))
        assert.deepStrictEqual(
          (yield* repliesTo(mail.id)).map(({ status }) => status),
          ["sent", "failed"]
        )
      })
    )
  })

const afterwards = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`mails that have ended: ${name}`, (it) => {
    const LIVES = Duration.days(14)
    const completed = Effect.fnUntraced(function* (owner: CustomerId, asLink: boolean) {
      const mail = yield* converting(owner, 1)
      yield* finish(mail, owner, 1, { asLink })
      return mail.id
    })

    it.effect("objects go once the replies have gone: all of them, or all but a result behind a link", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const [attached, linked] = [yield* completed(owner, false), yield* completed(owner, true)]
        assert.deepStrictEqual(yield* store.toClean(10, LIVES), [])
        yield* sendReplies
        assert.deepStrictEqual(yield* store.toClean(10, LIVES), [
          { id: attached, everything: true },
          { id: linked, everything: false }
        ])
        yield* store.cleaned(attached, "all")
        yield* store.cleaned(linked, "source")
        assert.deepStrictEqual(yield* store.toClean(10, LIVES), [])
        const unknown = anyId()
        assert.deepStrictEqual(yield* store.withoutObjects([attached, linked, unknown]), [attached, unknown])
        assert.isUndefined(yield* store.result(attached))
        assert.deepStrictEqual(yield* store.result(linked), {
          key: `mails/${linked}/result.html`,
          filename: "a.pdf"
        })
        yield* pass(Duration.days(15))
        assert.deepStrictEqual(yield* store.toClean(10, LIVES), [{ id: linked, everything: true }])
      })
    )

    it.effect("a paid result is kept behind a link where its reply did not bring it", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const attached = yield* completed(owner, false)
        yield* sendReplies
        const failed = yield* completed(owner, false)
        const names = Effect.map(store.keptResults(owner, LIVES), (kept) =>
          kept.map(({ id, reply }) => [id, reply])
        )
        assert.deepStrictEqual(yield* names, [[failed, "queued"]])
        const first = yield* store.claimReply(anyId(), Duration.minutes(5))
        yield* store.replySent(first!)
        const reply = yield* store.claimReply(anyId(), Duration.minutes(5))
        yield* store.replyFailed(reply!, "refused")
        const [kept] = yield* store.keptResults(owner, LIVES)
        assert.deepInclude(kept, {
          id: failed,
          name: "a.pdf",
          pages: 1,
          unreadablePages: [],
          hasText: true,
          creditsCharged: 1,
          reply: "failed"
        })
        assert.isAbove(kept!.expiresAt, Date.parse(kept!.convertedAt))
        assert.deepStrictEqual(yield* store.keptResults(anyId(), LIVES), [])
        assert.sameDeepMembers(
          [...(yield* store.toClean(10, LIVES))],
          [
            { id: attached, everything: true },
            { id: failed, everything: false }
          ]
        )
        yield* pass(Duration.days(15))
        assert.deepStrictEqual(yield* names, [])
      })
    )

    it.effect("mails that ended long ago are deleted, their objects gone first", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const owner = yield* customer(10)
        const [old, kept] = [yield* completed(owner, false), yield* completed(owner, false)]
        yield* sendReplies
        yield* store.cleaned(old, "all")
        yield* pass(Duration.days(89))
        yield* store.purge
        assert.isDefined(yield* mailOf(old))
        yield* pass(Duration.days(2))
        yield* store.purge
        assert.deepStrictEqual([yield* mailOf(old), yield* repliesTo(old)], [undefined, []])
        assert.isDefined(yield* mailOf(kept))
      })
    )

    it.effect("a customer whose account is closed is none; an address that nobody has is a stranger's", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const accounts = yield* Accounts
        const owner = yield* customer("free")
        assert.deepInclude(yield* store.customer(emailOf(owner)), { plan: "free", balance: 10 })
        assert.strictEqual(yield* store.customerEmail(owner), emailOf(owner))
        assert.deepStrictEqual(yield* store.suppressions(emailOf(owner)), [])
        const closed = yield* accounts.close(owner)
        assert.strictEqual(closed?.email, emailOf(owner))
        assert.isUndefined(yield* accounts.close(owner))
        assert.isUndefined(yield* accounts.funds(owner))
        assert.isUndefined(yield* store.customer(emailOf(owner)))
        assert.isUndefined(yield* store.customerEmail(owner))
        assert.isUndefined(yield* store.customer("who@x.test"))
      })
    )

    it.effect(
      "a person who is erased leaves no mail, reply or address; a conversion under way is given up",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* IntakeWorld
          const store = yield* IntakeStore
          const accounts = yield* Accounts
          const owner = yield* customer(10)
          const done = yield* completed(owner, true)
          const live = yield* converting(owner, 2)
          assert.isTrue(yield* accounts.erase({ email: emailOf(owner), actor: "admin" }))
          for (const id of [done, live.id]) {
            const row = yield* mailOf(id)
            assert.deepStrictEqual([row?.step, row?.reason], ["ended", "the person was erased"])
            assert.deepStrictEqual(yield* repliesTo(id), [])
          }
          assert.notInclude((yield* world.logged(done))?.sender ?? "", emailOf(owner))
          assert.isUndefined(yield* store.result(done))
          assert.isFalse(yield* store.heartbeat(live, WINDOW))
          assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
          assert.isFalse(yield* accounts.erase({ email: emailOf(owner), actor: "admin" }))
        })
    )
  })

/** What every store of mails under way does. */
export const suite = (name: string, stores: Layer.Layer<Stores>) => {
  leases(name, stores)
  money(name, stores)
  replies(name, stores)
  afterwards(name, stores)
}
