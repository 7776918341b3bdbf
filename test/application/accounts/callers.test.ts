import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted } from "effect"
import * as fc from "fast-check"

import * as Templates from "../../../src/adapters/mail-templates/mail-templates.ts"
import { makeDeferrals } from "../../../src/adapters/memory/mail/deferrals.ts"
import * as AccountClosing from "../../../src/application/accounts/account-closing.ts"
import * as ContactForms from "../../../src/application/accounts/contact-forms.ts"
import * as Receipts from "../../../src/application/accounts/receipts.ts"
import * as TeamInvitations from "../../../src/application/accounts/team-invitations.ts"
import * as Sharing from "../../../src/application/conversion/sharing.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import {
  Accounts,
  type ContactMessage,
  ContactMessages,
  TeamInvites
} from "../../../src/ports/accounts/accounts.ts"
import { SharedFiles } from "../../../src/ports/conversion/shared-files.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import type { MailTemplates } from "../../../src/ports/mail/mail-provider.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { anyId } from "../../support/any-id.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { makeHarness } from "../mail/harness.ts"

/** A real mailer in memory whose provider answers as the test says, every request that it got, and the log. */
const makeWorld = Effect.fnUntraced(function* (
  outcomes: ReadonlyArray<SimulatedOutcome> = [],
  options: Parameters<typeof makeHarness>[0] = {}
) {
  const harness = yield* makeHarness(options)
  harness.scripts.provider_a.push(...outcomes)
  const requests: Array<SendRequest> = []
  const logs: Array<string> = []
  const mailer = Layer.succeed(
    Mailer,
    Mailer.of({
      send: (request) =>
        Effect.andThen(
          Effect.sync(() => requests.push(request)),
          harness.send(request)
        )
    })
  )
  const capture = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  return {
    harness,
    requests,
    logs,
    errors: () => logs.filter((line) => /"level":"ERROR"/i.test(line)),
    layer: Layer.mergeAll(mailer, Templates.layer, Layer.succeed(Deferrals, makeDeferrals(harness.database))),
    logger: Logger.layer([capture])
  }
})

const contact: ContactMessage = {
  kind: "contact",
  name: "Ann",
  email: "ann@reader.test",
  message: "Hello <b>there</b>",
  rating: undefined,
  page: undefined,
  spam: false
}

const storeOf = (kept: Array<ContactMessage>, notified: Array<string> = [], missed: Array<string> = []) =>
  Layer.succeed(
    ContactMessages,
    ContactMessages.of({
      keep: (message) => Effect.sync(() => `id-${kept.push(message)}`),
      notified: (id) => Effect.sync(() => void notified.push(id)),
      missed: (id, error) => Effect.sync(() => void missed.push(`${id}: ${error}`)),
      claimWaiting: Effect.succeed(undefined),
      page: () => Effect.die("not here")
    })
  )

describe("the forms", () => {
  it.live("store, then tell ALERT_EMAIL with the person as Reply-To", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const kept: Array<ContactMessage> = []
      const notified: Array<string> = []
      const feedback: ContactMessage = {
        ...contact,
        kind: "feedback",
        name: undefined,
        rating: 2,
        page: "/x"
      }
      const answers = yield* Effect.gen(function* () {
        const forms = yield* ContactForms.ContactForms
        return [
          yield* forms.receive(contact),
          yield* forms.receive(feedback),
          yield* forms.receive({ ...feedback, email: undefined })
        ]
      }).pipe(
        Effect.provide(
          ContactForms.layer({ alertEmail: "desk@postlane.test" }).pipe(
            Layer.provide([storeOf(kept, notified), world.layer])
          )
        )
      )
      assert.deepStrictEqual(answers, [
        { received: true, notified: true },
        { received: true, notified: true },
        { received: true, notified: true }
      ])
      assert.strictEqual(kept.length, 3)
      assert.deepStrictEqual(notified, ["id-1", "id-2", "id-3"])
      assert.deepStrictEqual(
        world.requests.map(({ category, idempotencyKey, replyTo, source, to }) => ({
          category,
          idempotencyKey,
          replyTo,
          source,
          to
        })),
        [
          {
            category: "notification",
            idempotencyKey: "contact:id-1",
            replyTo: "ann@reader.test",
            source: "api:contact",
            to: "desk@postlane.test"
          },
          {
            category: "notification",
            idempotencyKey: "feedback:id-2",
            replyTo: "ann@reader.test",
            source: "api:feedback",
            to: "desk@postlane.test"
          },
          {
            category: "notification",
            idempotencyKey: "feedback:id-3",
            replyTo: undefined,
            source: "api:feedback",
            to: "desk@postlane.test"
          }
        ]
      )
      assert.include(world.requests[0]!.html, "Hello &lt;b&gt;there&lt;/b&gt;")
      assert.include(world.requests[1]!.text, "2 of 5")
    })
  )

  it.live("never report a notice as sent where the mail failed, and log why; the message stays", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(["rejected"])
      const kept: Array<ContactMessage> = []
      const notified: Array<string> = []
      const missed: Array<string> = []
      const answer = yield* ContactForms.ContactForms.use((forms) => forms.receive(contact)).pipe(
        Effect.provide(
          ContactForms.layer({ alertEmail: "desk@postlane.test" }).pipe(
            Layer.provide([storeOf(kept, notified, missed), world.layer])
          )
        ),
        Effect.provide(world.logger)
      )
      assert.deepStrictEqual(answer, { received: true, notified: false })
      assert.deepStrictEqual([kept, notified], [[contact], []])
      assert.match(missed.join(), /^id-1: \S/)
      assert.strictEqual(world.errors().length, 1)
      assert.include(world.errors()[0]!, "api:contact")
    })
  )

  it.live("without ALERT_EMAIL store and warn; a robot's message is stored and nobody is notified", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const kept: Array<ContactMessage> = []
      const receive = (message: ContactMessage, alertEmail: string | undefined) =>
        ContactForms.ContactForms.use((forms) => forms.receive(message)).pipe(
          Effect.provide(
            ContactForms.layer({ alertEmail }).pipe(Layer.provide([storeOf(kept), world.layer]))
          ),
          Effect.provide(world.logger)
        )
      const unset = { received: true, notified: false }
      assert.deepStrictEqual(yield* receive(contact, undefined), unset)
      assert.match(world.logs.join(), /"level":"WARN"/i)
      assert.include(world.logs.join(), "ALERT_EMAIL")
      assert.deepStrictEqual(yield* receive({ ...contact, spam: true }, "desk@postlane.test"), unset)
      assert.deepStrictEqual([kept.length, world.requests.length], [2, 0])
    })
  )

  it.live("say nothing was received where it could not be stored, and mail nothing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const broken = Layer.succeed(
        ContactMessages,
        ContactMessages.of({
          keep: () => Effect.fail(storeDown()),
          notified: () => Effect.void,
          missed: () => Effect.void,
          claimWaiting: Effect.succeed(undefined),
          page: () => Effect.die("not here")
        })
      )
      const failure = yield* ContactForms.ContactForms.use((forms) =>
        Effect.flip(forms.receive(contact))
      ).pipe(
        Effect.provide(
          ContactForms.layer({ alertEmail: "desk@postlane.test" }).pipe(Layer.provide([broken, world.layer]))
        )
      )
      assert.strictEqual(failure._tag, "StoreUnavailable")
      assert.strictEqual(world.requests.length, 0)
    })
  )
})

describe("sharing", () => {
  const files = Layer.succeed(
    SharedFiles,
    SharedFiles.of({
      allShares: () => Effect.succeed([]),
      link: ({ customerId, fileId }) =>
        Effect.succeed(
          fileId === "f" && customerId === "c"
            ? {
                fileName: "report.pdf",
                sender: "Ann",
                url: "https://x.test/s/1",
                expiresAt: "2026-02-03T00:00:00Z"
              }
            : undefined
        ),
      note: ({ recipients }) =>
        Effect.succeed(recipients.map((email) => ({ email, url: "https://x.test/s/1" }))),
      revoke: () => Effect.die("not here"),
      shares: () => Effect.succeed([]),
      stop: () => Effect.succeed(true),
      urlFrom: () => Effect.die("not here"),
      open: () => Effect.die("not here")
    })
  )
  const share = (
    layer: Layer.Layer<Deferrals | Mailer | MailTemplates>,
    request: Partial<Sharing.ShareRequest>
  ) =>
    Sharing.Sharing.use((sharing) =>
      sharing.share({
        fileId: anyId("f"),
        customerId: anyId("c"),
        recipients: [],
        message: undefined,
        ...request
      })
    ).pipe(Effect.provide(Sharing.layer.pipe(Layer.provide([files, layer]))))

  it("counts exactly the mails that went out and lists the others, one mail a recipient", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<SimulatedOutcome>("ok", "rejected", "unavailable"), { maxLength: 12 }),
        (outcomes) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const fates = new Map(outcomes.map((outcome, index) => [`r${index}@x.test`, outcome]))
              const world = yield* makeWorld()
              const mailer = Layer.effect(
                Mailer,
                Effect.map(Mailer, ({ send }) =>
                  Mailer.of({
                    send: (request) => {
                      world.harness.scripts.provider_a.push(fates.get(String(request.to)) ?? "ok")
                      return send(request)
                    }
                  })
                )
              ).pipe(Layer.provideMerge(world.layer))
              const recipients = [...fates.keys()]
              const answer = yield* share(mailer, { recipients: [...recipients, ...recipients] }).pipe(
                Effect.provide(world.logger)
              )
              const sent = world.requests.length
              assert.strictEqual(sent, recipients.length)
              assert.strictEqual(answer.recipients + answer.unsentRecipients.length, recipients.length)
              const copies = yield* world.harness.copies
              assert.strictEqual(answer.recipients, copies.provider_a)
              assert.strictEqual(world.errors().length, answer.unsentRecipients.length)
              for (const request of world.requests) assert.isString(request.to)
            })
          )
      ),
      { numRuns: 20 }
    ))

  it.live("tells nobody of a file that is not there, or somebody else's", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const request = { recipients: ["a@x.test"], customerId: anyId("other") }
      assert.strictEqual((yield* Effect.flip(share(world.layer, request)))._tag, "NoSuchFile")
      assert.strictEqual(world.requests.length, 0)
    })
  )
})

describe("receipts", () => {
  it.live("go out once a receipt id, however often they are requested (S1)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const receipt = {
        receiptId: "R-1",
        email: "ann@reader.test",
        customer: "Ann",
        paidAt: "2026-02-03T00:00:00Z",
        lines: [{ text: "100 credits", amountUsd: 9.5 }],
        totalUsd: 9.5
      }
      const send = Receipts.Receipts.use((receipts) => receipts.send(receipt)).pipe(
        Effect.provide(Receipts.layer.pipe(Layer.provide(world.layer)))
      )
      assert.deepStrictEqual(yield* send, { receiptSent: true })
      assert.deepStrictEqual(yield* send, { receiptSent: true })
      assert.strictEqual((yield* world.harness.copies).provider_a, 1)
      assert.include(world.requests[0]!.text, "$9.50")
      assert.strictEqual(world.requests[0]!.source, "api:receipts")
    })
  )
})

describe("a receipt that was deferred", () => {
  it.live("goes out anew where its retries ended without an answer, and only then (R3)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(Array.from({ length: 4 }, () => "ambiguous-lost" as const))
      const receipt = {
        receiptId: "R-2",
        email: "ann@reader.test",
        customer: "Ann",
        paidAt: "2026-02-03T00:00:00Z",
        lines: [{ text: "100 credits", amountUsd: 9.5 }],
        totalUsd: 9.5
      }
      const send = Receipts.Receipts.use((receipts) => receipts.send(receipt)).pipe(
        Effect.provide(Receipts.layer.pipe(Layer.provide(world.layer)))
      )
      for (let retry = 0; retry < 3; retry++) {
        assert.deepStrictEqual(yield* send, { receiptSent: true })
        yield* world.harness.retry((yield* world.harness.queued)[retry]!)
      }
      assert.strictEqual((yield* world.harness.copies).provider_a, 0)
      assert.strictEqual(world.harness.database.rows().at(-1)?.status, "failed")
      assert.strictEqual(world.requests.length, 1)
      assert.deepStrictEqual(yield* send, { receiptSent: true })
      assert.deepStrictEqual(yield* send, { receiptSent: true })
      assert.strictEqual((yield* world.harness.copies).provider_a, 1)
    }).pipe(Effect.provide(Logger.layer([])))
  )
})

describe("invitations", () => {
  const token = Redacted.make("t0ken")
  const invitesOf = (todo: "Send" | "Sent" | "Busy", ended: Array<boolean>) =>
    Layer.succeed(
      TeamInvites,
      TeamInvites.of({
        begin: () =>
          Effect.succeed(
            todo === "Send"
              ? {
                  todo,
                  inviteId: "i",
                  token,
                  inviter: "Ann",
                  expiresAt: "2026-02-03T00:00:00Z",
                  mailKey: "k"
                }
              : { todo, inviteId: "i" }
          ),
        end: (given, sent) =>
          Effect.sync(() => {
            assert.strictEqual(Redacted.value(given), "t0ken")
            ended.push(sent)
          }),
        accept: () => Effect.succeed(undefined)
      })
    )

  it.live("report inviteSent only on an ok send, and note it", () =>
    Effect.gen(function* () {
      for (const [outcome, inviteSent] of [
        ["ok", true],
        ["rejected", false],
        ["ambiguous-lost", true]
      ] as const) {
        const world = yield* makeWorld([outcome])
        const ended: Array<boolean> = []
        const answer = yield* TeamInvitations.TeamInvitations.use((team) =>
          team.invite({ customerId: anyId("c"), email: "bob@x.test", to: "Bob@x.test" })
        ).pipe(
          Effect.provide(
            TeamInvitations.layer({ baseUrl: "https://postlane.test" }).pipe(
              Layer.provide([invitesOf("Send", ended), world.layer])
            )
          ),
          Effect.provide(world.logger)
        )
        assert.deepStrictEqual(
          [outcome, answer, ended],
          [outcome, { inviteId: "i", inviteSent }, [inviteSent]]
        )
        assert.include(world.requests[0]!.text, "https://postlane.test/invites/t0ken")
        assert.isFalse(world.logs.join().includes("t0ken"))
      }
    })
  )

  it.live("send nothing where the mail went out before, or is going out", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const invite = (todo: "Sent" | "Busy") =>
        TeamInvitations.TeamInvitations.use((team) =>
          team.invite({ customerId: anyId("c"), email: "bob@x.test", to: "Bob@x.test" })
        ).pipe(
          Effect.provide(
            TeamInvitations.layer({ baseUrl: "https://postlane.test" }).pipe(
              Layer.provide([invitesOf(todo, []), world.layer])
            )
          )
        )
      assert.deepStrictEqual(yield* invite("Sent"), { inviteId: "i", inviteSent: true })
      assert.strictEqual((yield* Effect.flip(invite("Busy")))._tag, "InviteUnderWay")
      assert.strictEqual(world.requests.length, 0)
    })
  )
})

describe("closing an account", () => {
  it.live(
    "confirms in category auth, which a complaint does not block (P2); closed is closed without the mail",
    () =>
      Effect.gen(function* () {
        for (const [reason, confirmationSent] of [
          ["complaint", true],
          ["hard_bounce", false]
        ] as const) {
          const world = yield* makeWorld()
          world.harness.database.suppress({ email: "ann@reader.test", reason })
          let open = true
          const accounts = Layer.succeed(
            Accounts,
            Accounts.of({
              close: () =>
                Effect.sync(() => {
                  if (!open) return undefined
                  open = false
                  return { email: "ann@reader.test", deletedAt: "2026-02-03T00:00:00Z" }
                }),
              erase: () => Effect.succeed(true),
              funds: () => Effect.succeed(undefined),
              moves: () => Effect.succeed({ rows: [], nextCursor: null }),
              holds: () => Effect.succeed([])
            })
          )
          const close = AccountClosing.AccountClosing.use((service) => service.close(anyId("c"))).pipe(
            Effect.provide(AccountClosing.layer.pipe(Layer.provide([accounts, world.layer]))),
            Effect.provide(world.logger)
          )
          assert.deepStrictEqual([reason, yield* close], [reason, { deleted: true, confirmationSent }])
          assert.deepStrictEqual(yield* close, { deleted: true, confirmationSent: false })
          assert.deepStrictEqual(
            world.requests.map(({ category, source }) => [category, source]),
            [["auth", "api:account"]]
          )
          assert.strictEqual(world.errors().length, confirmationSent ? 0 : 1)
        }
      })
  )
})
