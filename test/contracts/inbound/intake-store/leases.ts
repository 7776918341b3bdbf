import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { MailId } from "../../../../src/domain/ids.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, DocumentsWorld, pass, WINDOW } from "../../conversion/documents-world.ts"
import {
  admit,
  admitted,
  claim,
  converting,
  emailOf,
  ERROR,
  finish,
  HOME,
  identityOf,
  mailOf,
  OUTAGE,
  received,
  receivedFrom,
  type Stores,
  taken
} from "./world.ts"

/** Mails under way: received once, claimed by one worker, put off and limited. */
export const leases = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`mails under way: ${name}`, (it) => {
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
            peerTrusted: false,
            home: HOME,
            verifiedSender: undefined,
            ended: undefined
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

    it.effect("H3: customers take turns at being read, and all strangers have one turn together", () =>
      Effect.gen(function* () {
        yield* clean
        const [ann, bob] = [emailOf(yield* customer(5)), emailOf(yield* customer(5))]
        const busy: Array<MailId> = []
        for (let n = 0; n < 4; n++) busy.push(yield* receivedFrom(ann))
        const strangers = [
          yield* receivedFrom("a@one.test"),
          yield* receivedFrom("a@two.test"),
          yield* receivedFrom(undefined)
        ]
        const quiet = yield* receivedFrom(bob)
        const order: Array<MailId | undefined> = []
        for (let n = 0; n < 8; n++) {
          order.push((yield* claim("received"))?.id)
          yield* pass(Duration.millis(5))
        }
        assert.deepStrictEqual(order, [
          busy[0],
          strangers[0],
          quiet,
          busy[1],
          strangers[1],
          busy[2],
          strangers[2],
          busy[3]
        ])
        assert.isUndefined(yield* claim("received"))
      })
    )

    it.effect("DOC-6: a mail is worked on where its object store is, and is left to others elsewhere", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const AGE = Duration.minutes(15)
        const owner = yield* customer(5)
        const [ours, theirs] = [
          yield* receivedFrom(emailOf(owner)),
          yield* receivedFrom(emailOf(owner), undefined, "r2")
        ]
        const claimedBy = (step: "received" | "converting", home: string) =>
          claim(step, anyId(), undefined, home)
        assert.strictEqual((yield* claimedBy("received", HOME))?.id, ours)
        assert.isUndefined(yield* claimedBy("received", HOME))
        const mail = (yield* claimedBy("received", "r2"))!
        assert.strictEqual(mail.id, theirs)
        yield* store.identify(mail, identityOf("theirs", emailOf(owner)), 9)
        assert.strictEqual(yield* admit(mail, owner, 1), "admitted")
        assert.isUndefined(yield* claimedBy("converting", HOME))
        assert.isUndefined(yield* store.claimReply(anyId(), AGE, HOME))
        assert.strictEqual((yield* store.claimReply(anyId(), AGE, "r2"))?.mailId, theirs)
        assert.strictEqual(yield* store.waitingSince(AGE), 0)
        yield* pass(Duration.minutes(16))
        assert.strictEqual(
          yield* store.waitingSince(AGE),
          2,
          "one that nobody converts, one whose worker went silent"
        )
        const again = (yield* claimedBy("converting", "r2"))!
        yield* store.end(again, { outcome: "error", reason: "r" })
        assert.strictEqual(yield* store.waitingSince(AGE), 1)
        yield* store.replySent((yield* store.claimReply(anyId(), AGE, "r2"))!)
        assert.deepStrictEqual(yield* store.toClean(10, Duration.days(7), HOME), [])
        assert.deepStrictEqual(yield* store.toClean(10, Duration.days(7), "r2"), [
          { id: theirs, everything: true }
        ])
      })
    )

    it.effect("a mail that its headers ended is never claimed, and is cleaned as any that ended", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const id = yield* receivedFrom(undefined, { outcome: "unverified", reason: "forged" })
        assert.isUndefined(yield* claim("received"))
        const row = yield* mailOf(id)
        assert.deepStrictEqual([row?.step, row?.outcome, row?.reason], ["ended", "unverified", "forged"])
        assert.deepStrictEqual(yield* store.toClean(10, Duration.days(7), HOME), [{ id, everything: true }])
        yield* store.cleaned(id, "all")
        yield* pass(Duration.days(91))
        yield* store.purge
        assert.isUndefined(yield* mailOf(id))
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
          const defer = (part: "objects" | "pipeline" = "objects") =>
            Effect.gen(function* () {
              const mail = (yield* claim("received"))!
              return [
                mail.attempts,
                mail.failures,
                yield* store.defer(mail, { ...OUTAGE, part }),
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
          assert.strictEqual(yield* store.defer(mail, { ...OUTAGE, part: "pipeline" }), "deferred")
          assert.strictEqual(yield* store.defer(mail, OUTAGE), "stale")
        })
    )

    it.effect.each(["received", "converting"] as const)(
      "a worker that was taken for dead and reports a failure takes its attempt back: %s",
      (step) =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const slow = step === "received" ? yield* taken : yield* converting(yield* customer(9), 1)
          yield* pass(Duration.minutes(2))
          const next = (yield* claim(step))!
          assert.deepStrictEqual([next.id, next.attempts], [slow.id, 2])
          assert.deepStrictEqual(yield* claim(step, next.lease), next, "the same claim again")
          assert.strictEqual(yield* store.defer(slow, OUTAGE), "stale")
          assert.strictEqual((yield* mailOf(slow.id))?.attempts, 1)
          assert.strictEqual(yield* store.defer(slow, OUTAGE), "stale")
          assert.strictEqual((yield* mailOf(slow.id))?.attempts, 1, "once")
          assert.isTrue(yield* store.heartbeat(next, WINDOW))
        })
    )

    it.effect.each(["received", "converting"] as const)(
      "one that has ended has no holder any more, neither who held it nor another: %s",
      (step) =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* IntakeStore
          const owner = yield* customer(9)
          const mail = step === "received" ? yield* taken : yield* converting(owner, 1)
          const other = step === "received" ? "converting" : "received"
          assert.isUndefined(yield* claim(other, mail.lease), "a lease is of one step")
          if (step === "received") yield* store.end(mail, ERROR)
          else yield* finish(mail, owner, 1)
          const ended = yield* mailOf(mail.id)
          assert.isFalse(yield* store.heartbeat(mail, WINDOW))
          assert.isFalse(yield* store.handBack(mail, { after: Duration.zero, counts: true }))
          assert.strictEqual(yield* store.defer(mail, OUTAGE), "stale")
          assert.isUndefined(yield* claim(step, mail.lease))
          yield* pass(Duration.minutes(2))
          const waiting =
            step === "received" ? yield* receivedFrom(emailOf(owner)) : (yield* admitted(owner, 1))[0]
          assert.strictEqual((yield* claim(step))?.id, waiting)
          assert.deepStrictEqual(yield* mailOf(mail.id), ended)
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

    it.effect("C2: a mail that is handed back meanwhile is not identified by who held it", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const mail = yield* taken
        const answer = yield* (yield* DocumentsWorld).whileOpen(
          store.handBack(mail, { after: Duration.zero, counts: true }),
          store.identify(mail, identityOf("handed back", "a@x.test"), 2)
        )
        assert.strictEqual(answer, "stale")
        const again = yield* taken
        assert.strictEqual(again.id, mail.id)
        assert.strictEqual(yield* store.identify(again, identityOf("handed back", "a@x.test"), 2), "claimed")
      })
    )

    it.effect("what was refused or came twice takes no place in the hour after it", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const come = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
          const answers: Array<string> = []
          for (const one of names) {
            const mail = yield* taken
            answers.push(yield* store.identify(mail, identityOf(one, "a@x.test"), 2))
            yield* store.end(mail, { outcome: "error", reason: "no attachment" })
          }
          return answers
        })
        assert.deepStrictEqual(yield* come(["a", "b"]), ["claimed", "claimed"])
        yield* pass(Duration.minutes(40))
        // The hour of the next mails has these alone.
        assert.deepStrictEqual(yield* come(["c", "d", "a", "b"]), [
          "limited",
          "limited",
          "duplicate",
          "duplicate"
        ])
        yield* pass(Duration.minutes(21))
        assert.deepStrictEqual(yield* come(["e", "f", "g"]), ["claimed", "claimed", "limited"])
        // An hour counts back from the mail: what came later takes no place of what came first.
        yield* pass(Duration.minutes(61))
        const [early, ...late] = [yield* taken, yield* taken, yield* taken]
        for (const [index, mail] of late.entries())
          assert.strictEqual(
            yield* store.identify(mail, identityOf(`late ${index}`, "a@x.test"), 2),
            "claimed"
          )
        assert.strictEqual(yield* store.identify(early, identityOf("early", "a@x.test"), 2), "claimed")
      })
    )

    it.effect("F1: the funds of a mail stay set aside as long as its worker is heard of, and no longer", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* IntakeStore
        const world = yield* DocumentsWorld
        const owner = yield* customer(10)
        const mail = yield* converting(owner, 3)
        const lasts = Effect.map(world.hold(mail.id), (hold) => (hold?.minutes ?? 0) > 60)
        yield* world.lapsesIn(mail.id, 1)
        assert.isFalse(yield* store.heartbeat({ ...mail, lease: anyId() }, WINDOW))
        assert.isFalse(yield* lasts)
        assert.isTrue(yield* store.heartbeat(mail, WINDOW))
        assert.isTrue(yield* lasts)
        yield* world.lapsesIn(mail.id, 1)
        assert.strictEqual(yield* store.defer(mail, OUTAGE), "deferred")
        assert.isTrue(yield* lasts, "it is tried again")
      })
    )
  })
