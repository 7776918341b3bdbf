import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as ContactMessages from "../../../../src/adapters/postgres/accounts/contact-messages.ts"
import * as TeamInvites from "../../../../src/adapters/postgres/accounts/team-invites.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as BulkOrders from "../../../../src/adapters/postgres/conversion/bulk-orders.ts"
import * as Deferrals from "../../../../src/adapters/postgres/mail/deferrals.ts"
import * as MailStoreLayer from "../../../../src/adapters/postgres/mail/mail-store.ts"
import * as Preferences from "../../../../src/adapters/postgres/mail/preferences.ts"
import * as CampaignBook from "../../../../src/adapters/postgres/outreach/campaign-book.ts"
import * as ContactForms from "../../../../src/application/accounts/contact-forms.ts"
import * as TeamInvitations from "../../../../src/application/accounts/team-invitations.ts"
import * as Bulk from "../../../../src/application/conversion/bulk-messages.ts"
import { Mailer } from "../../../../src/application/mail/mailer.ts"
import { SendLater } from "../../../../src/application/mail/send-later.ts"
import * as Outreach from "../../../../src/application/outreach/outreach.ts"
import * as Unsubscribe from "../../../../src/application/outreach/unsubscribe.ts"
import type { SendRequest } from "../../../../src/domain/mail/message.ts"
import { type ContactMessage, ContactMessages as Messages } from "../../../../src/ports/accounts/accounts.ts"
import { SharedFiles } from "../../../../src/ports/conversion/shared-files.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { CampaignBook as Book } from "../../../../src/ports/outreach/campaign-book.ts"
import { makeHarness } from "../../../application/mail/harness.ts"
import type { SimProvider } from "../../../simulation/providers.ts"
import { anyId } from "../../../support/any-id.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { plainTemplates } from "../../../support/worlds/plain-templates.ts"

/** The callers' tables and the send log in Postgres. */
const tables = Layer.mergeAll(
  MailStoreLayer.layer,
  Deferrals.layer,
  TeamInvites.layer,
  ContactMessages.layer,
  CampaignBook.layer,
  CampaignBook.layerUnsubscribes,
  Preferences.layer,
  BulkOrders.layer
).pipe(Layer.provide(NodeCrypto.layer), Layer.provideMerge(layerPostgres))

const FIRST_AND_RETRIES = 4

/** The callers on a mailer whose provider stays ambiguous, by default until the schedule ends, and then takes everything. */
const makeWorld = Effect.fnUntraced(function* (
  provider: SimProvider,
  ambiguous = FIRST_AND_RETRIES,
  /** What the send queue takes. */
  later: (request: SendRequest) => Effect.Effect<boolean> = () => Effect.succeed(false)
) {
  const store = yield* MailStore
  const harness = yield* makeHarness({ store: () => store })
  harness.scripts[provider].push(...Array.from({ length: ambiguous }, () => "ambiguous-lost" as const))
  const services = Layer.mergeAll(
    TeamInvitations.layer({ baseUrl: "https://p.test" }),
    ContactForms.layer({ alertEmail: "desk@postlane.test" }),
    Outreach.layer,
    Bulk.layer
  ).pipe(
    Layer.provideMerge(Unsubscribe.layer),
    Layer.provide([
      Layer.succeed(Mailer, Mailer.of({ send: harness.send })),
      Layer.succeed(SendLater, later),
      Layer.succeed(Outreach.OutreachConfig, {
        from: "Postlane <outreach@postlane.test>",
        configurationSet: "outreach-set",
        baseUrl: "https://p.test",
        footer: "Street 1"
      }),
      Layer.succeed(Bulk.BulkMessageSender, {
        from: "noreply@postlane.test",
        replyTo: "convert@legacy.test"
      }),
      Layer.mock(SharedFiles, {}),
      plainTemplates,
      Mac.layerWebCrypto
    ]),
    Layer.provide(NodeCrypto.layer)
  )
  const callers = yield* Effect.provide(
    Effect.all({
      invitations: TeamInvitations.TeamInvitations,
      forms: ContactForms.ContactForms,
      outreach: Outreach.Outreach,
      bulk: Bulk.BulkMessages
    }),
    services
  )
  return {
    ...callers,
    /** The provider does not take the next mail. */
    refuseOne: () => void harness.scripts[provider].push("unavailable"),
    refuse: (times: number) =>
      void harness.scripts[provider].push(...Array.from({ length: times }, () => "rejected" as const)),
    copies: Effect.map(harness.copies, (copies) => copies[provider]),
    /** Retries numbers `from` to `to` of the schedule. */
    retries: Effect.fnUntraced(function* (from: number, to: number) {
      for (let number = from; number <= to; number++) {
        yield* harness.retry((yield* harness.queued)[number - 1]!)
      }
    })
  }
})

const customer = WriteSql.use((sql) =>
  Effect.map(
    sql<{
      readonly id: string
    }>`insert into customers (email) values (${anyId()} || '@x.test') returning id`,
    (rows) => rows[0]!.id
  )
)

const logged = WriteSql.use((sql) =>
  Effect.map(
    sql<{
      readonly status: string
      readonly error_kind: string | null
    }>`select status, error_kind from email_log
      order by created_at desc, id desc limit 1`,
    (rows) => rows[0]
  )
)

suiteLayer(Layer.merge(tables, Logger.layer([])))(
  "the end of a deferred send reaches its caller's state (R3)",
  (it) => {
    it.effect("an invitation whose retries ended without an answer is sent when it is asked for again", () =>
      Effect.gen(function* () {
        const { copies, invitations, retries } = yield* makeWorld("provider_a")
        const invite = invitations.invite({
          customerId: anyId(yield* customer),
          email: "bob@x.test",
          to: "bob@x.test"
        })
        const { inviteId } = yield* invite
        yield* retries(1, 2)
        assert.deepStrictEqual(yield* invite, { inviteId, inviteSent: true })
        yield* retries(3, 3)
        assert.deepStrictEqual(yield* logged, { status: "failed", error_kind: "ambiguous" })
        assert.strictEqual(yield* copies, 0)
        for (let again = 0; again < 2; again++) {
          assert.deepStrictEqual(yield* invite, { inviteId, inviteSent: true })
          assert.strictEqual(yield* copies, 1)
        }
      })
    )

    it.effect.each(["failed", "suppressed"])(
      "an invitation that waited in the send queue, and ended unsent, is sent when it is asked for again: %s",
      (outcome) =>
        Effect.gen(function* () {
          const queued: Array<string | undefined> = []
          const { copies, invitations, refuseOne } = yield* makeWorld("provider_a", 0, ({ idempotencyKey }) =>
            Effect.sync(() => queued.push(idempotencyKey) > 0)
          )
          const sql = yield* WriteSql
          const invite = invitations.invite({
            customerId: anyId(yield* customer),
            email: "eve@x.test",
            to: "eve@x.test"
          })
          refuseOne()
          const { inviteId } = yield* invite
          // Nobody is asked again while it waits.
          assert.deepStrictEqual(yield* invite, { inviteId, inviteSent: true })
          assert.deepStrictEqual([queued.length, yield* copies], [1, 0])
          // What the queue writes when the mail's time is over.
          yield* sql`with q as (
            insert into email_send_queue (idempotency_key, key_hash, request_hash, category, lane, send_at, state, ended_at)
            select l.idempotency_key, l.key_hash, '', l.category, 3, now(), 'failed', now()
            from email_log l where l.idempotency_key = ${queued[0]} returning *
          )
          insert into email_log (id, category, source, from_address, to_addresses, recipient_count, subject, outcome, status, error, error_kind,
            failed_over, idempotency_key, key_hash)
          select q.id, l.category, l.source, l.from_address, l.to_addresses, 1, l.subject, ${outcome}, ${outcome}, 'too late', 'unavailable', false,
            l.idempotency_key, l.key_hash
          from q join email_log l on l.key_hash = q.key_hash`
          for (let again = 0; again < 2; again++) {
            assert.deepStrictEqual(yield* invite, { inviteId, inviteSent: true })
            assert.strictEqual(yield* copies, 1)
          }
          assert.lengthOf(queued, 1)
        })
    )

    it.effect("an outreach send says that it failed, and is sent when it is asked for again", () =>
      Effect.gen(function* () {
        const { copies, outreach, retries } = yield* makeWorld("provider_b")
        const book = yield* Book
        const sql = yield* WriteSql
        const send = outreach.send({
          email: "ann@x.test",
          campaign: "spring",
          subject: "Hello",
          paragraphs: ["One"]
        })
        const row = Effect.map(
          sql`select status, error_kind, error is not null as explained from email_sends`,
          (rows) => rows[0]
        )
        assert.strictEqual((yield* send)._tag, "Ended")
        yield* retries(1, 2)
        assert.deepInclude(yield* send, { _tag: "SentBefore", status: "deferred" })
        yield* retries(3, 3)
        yield* book.settle
        assert.deepStrictEqual(yield* row, { status: "failed", error_kind: "ambiguous", explained: true })
        assert.strictEqual(yield* copies, 0)
        const again = yield* send
        assert.strictEqual(again._tag === "Ended" && again.result.status, "sent")
        assert.deepStrictEqual(yield* row, { status: "sent", error_kind: null, explained: false })
        assert.deepInclude(yield* send, { _tag: "SentBefore", status: "sent" })
        assert.strictEqual(yield* copies, 1)
      })
    )

    it.effect("an outreach send whose retry was accepted says so without an event", () =>
      Effect.gen(function* () {
        const { copies, outreach, retries } = yield* makeWorld("provider_b", 1)
        const sql = yield* WriteSql
        // Each world's provider counts its message ids anew.
        yield* empty("email_log")
        yield* outreach.send({
          email: "eve@x.test",
          campaign: "spring",
          subject: "Hello",
          paragraphs: ["One"]
        })
        yield* retries(1, 1)
        yield* Book.use(({ settle }) => settle)
        const rows = yield* sql`select s.status from email_sends s join prospects p on p.id = s.prospect_id
          where p.email = 'eve@x.test'`
        assert.deepStrictEqual([...rows], [{ status: "sent" }])
        assert.strictEqual(yield* copies, 1)
      })
    )

    it.effect("a bulk order is done with when its message was accepted, not when it was deferred", () =>
      Effect.gen(function* () {
        const { bulk, copies, retries } = yield* makeWorld("provider_a")
        const sql = yield* WriteSql
        yield* sql`insert into bulk_orders (customer_id) values (${yield* customer})`
        const isDue = sql`update bulk_orders set notifying_until = clock_timestamp()`
        assert.strictEqual(yield* bulk.sendDue, 0)
        yield* retries(1, 2)
        yield* isDue
        assert.strictEqual(yield* bulk.sendDue, 0)
        yield* retries(3, 3)
        assert.deepStrictEqual(yield* logged, { status: "failed", error_kind: "ambiguous" })
        yield* isDue
        assert.strictEqual(yield* bulk.sendDue, 1)
        yield* isDue
        assert.strictEqual(yield* bulk.sendDue, 0)
        assert.strictEqual(yield* copies, 1)
      })
    )

    it.effect("a message of the forms waits until its mail was accepted", () =>
      Effect.gen(function* () {
        const { copies, forms, retries } = yield* makeWorld("provider_a")
        const sql = yield* WriteSql
        const message: ContactMessage = {
          kind: "contact",
          name: "Ann",
          email: "ann@x.test",
          message: "Hello",
          rating: undefined,
          page: undefined,
          spam: false
        }
        const isDue = sql`update contact_messages set notify_after = clock_timestamp()`
        const notified = Effect.map(
          sql<{
            readonly notified: boolean
          }>`select notified_at is not null as notified from contact_messages`,
          (rows) => rows.map((row) => row.notified)
        )
        assert.deepStrictEqual(yield* forms.receive(message), { received: true, notified: true })
        assert.strictEqual(yield* forms.sweep, 0)
        yield* retries(1, 2)
        yield* isDue
        assert.strictEqual(yield* forms.sweep, 0)
        assert.deepStrictEqual(yield* notified, [false])
        yield* retries(3, 3)
        yield* isDue
        assert.strictEqual(yield* forms.sweep, 1)
        assert.deepStrictEqual(yield* notified, [true])
        yield* isDue
        assert.strictEqual(yield* forms.sweep, 0)
        assert.strictEqual(yield* copies, 1)
      })
    )

    it.effect(
      "a message whose mail was refused is swept until it is sent, and says meanwhile why it waits",
      () =>
        Effect.gen(function* () {
          const { copies, forms, refuse } = yield* makeWorld("provider_a", 0)
          const sql = yield* WriteSql
          const messages = yield* Messages
          yield* sql`delete from contact_messages`
          refuse(2)
          const feedback: ContactMessage = {
            kind: "feedback",
            name: undefined,
            email: undefined,
            message: "Hm",
            rating: 2,
            page: "/x",
            spam: false
          }
          assert.deepStrictEqual(yield* forms.receive(feedback), { received: true, notified: false })
          yield* forms.receive({ ...feedback, spam: true })
          assert.strictEqual(yield* forms.sweep, 0)
          const waiting = messages.page({ state: "waiting", limit: 10 })
          const isDue = sql`update contact_messages set notify_after = clock_timestamp()`
          for (const attempts of [0, 1]) {
            const { rows } = yield* waiting
            assert.strictEqual(rows.length, 1)
            assert.deepInclude(rows[0], {
              kind: "feedback",
              rating: 2,
              notify_attempts: attempts,
              notified_at: null
            })
            assert.match(rows[0]?.notify_error ?? "", /\S/)
            yield* isDue
            assert.strictEqual(yield* forms.sweep, attempts)
          }
          assert.deepStrictEqual((yield* waiting).rows, [])
          const { rows } = yield* messages.page({ state: "notified", kind: "feedback", limit: 10 })
          assert.deepInclude(rows[0], { notify_error: null, notify_attempts: 2 })
          assert.strictEqual((yield* messages.page({ state: "spam", limit: 10 })).rows.length, 1)
          assert.strictEqual(yield* copies, 1)
        })
    )
  }
)
