import { Effect, Layer, Schema } from "effect"

import { MailOutcome } from "../../../domain/inbound/mail-outcome.ts"
import {
  type IncomingMailFilter,
  type IncomingMailRow,
  IncomingMails,
  MAIL_STEPS
} from "../../../ports/inbound/incoming-mails.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { statements } from "../statement.ts"
import { Int8, storable, timeColumn, timeText } from "../values.ts"

const ask = statements({ within: "5 seconds" })

/** A mail has arrived when its row was made. */
const FROM = `(select x.*, x.received_at as created_at from intake_mails x) m
  left join conversion_jobs j on j.id = m.id`

const REPLIES = `coalesce((
  select jsonb_agg(jsonb_build_object(
    'kind', r.kind, 'recipient', r.recipient, 'status', r.status, 'attempts', r.attempts, 'asLink', r.as_link, 'error', r.error,
    'createdAt', ${timeText("r.created_at")}, 'endedAt', ${timeText("r.ended_at")}
  ) order by r.created_at)
  from intake_replies r where r.mail_id = m.id
), '[]') as replies`

const PLAIN =
  "id sender envelope_from subject raw_bytes step outcome reason customer_id filename file_bytes pages attempts failing_part"

const COLUMNS = [
  ...PLAIN.split(" ").map((name) => `m.${name}`),
  ...["created_at", "failing_since", "not_before", "ended_at"].map((name) => timeColumn(name, `m.${name}`)),
  "coalesce(j.credits_charged, 0) as credits_charged",
  REPLIES
].join(", ")

const Text = Schema.NullOr(Schema.String)

const Row = Schema.Struct({
  id: Schema.String,
  createdAt: Schema.String,
  sender: Text,
  envelopeFrom: Schema.String,
  subject: Text,
  rawBytes: Int8,
  step: Schema.Literals(MAIL_STEPS),
  outcome: Schema.NullOr(MailOutcome),
  reason: Text,
  customerId: Text,
  filename: Text,
  fileBytes: Schema.NullOr(Schema.Int),
  pages: Schema.NullOr(Schema.Int),
  creditsCharged: Schema.Int,
  attempts: Schema.Int,
  failingPart: Text,
  failingSince: Text,
  notBefore: Schema.String,
  endedAt: Text,
  replies: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals([
        "unregistered",
        "no-attachment",
        "misaddressed",
        "unsupported-file",
        "insufficient-credits",
        "processing-started",
        "success",
        "error"
      ]),
      recipient: Schema.String,
      status: Schema.Literals(["queued", "sent", "failed"]),
      attempts: Schema.Int,
      asLink: Schema.Boolean,
      error: Text,
      createdAt: Schema.String,
      endedAt: Text
    })
  )
})

const conditionsOf =
  ({ outcome, sender, step }: Omit<IncomingMailFilter, "limit" | "cursor">) =>
  (bind: (value: unknown) => string) => [
    ...(step === undefined ? [] : [`m.step = ${bind(step)}`]),
    ...(outcome === undefined ? [] : [`m.outcome = ${bind(outcome)}`]),
    ...(sender === undefined
      ? []
      : [`(m.sender = ${bind(storable(sender))} or lower(m.envelope_from) = ${bind(storable(sender))})`])
  ]

const Answer = <const A extends string>(...answers: ReadonlyArray<A>) =>
  Schema.NullOr(Schema.Literals(answers))

/** Mails to the convert address in Postgres. */
export const layer: Layer.Layer<IncomingMails, never, ReadSql | WriteSql> = Layer.effect(
  IncomingMails,
  Effect.gen(function* () {
    const read = yield* ReadSql
    const write = yield* WriteSql
    const page = (
      wanted: Pick<IncomingMailFilter, "limit" | "cursor">,
      conditions: (bind: (value: unknown) => string) => ReadonlyArray<string>
    ) =>
      newestFirst(
        (text, parameters) => ask.stored("incomingMails", read.unsafe<StoredRow>(text, parameters)),
        { from: FROM, name: "m", columns: COLUMNS, conditions, limit: wanted.limit, cursor: wanted.cursor }
      ).pipe(Effect.flatMap(decodedPage("incomingMails", Row)))
    return IncomingMails.of({
      page: (filter) => page(filter, conditionsOf(filter)),
      ofCustomer: (customerId, limit) =>
        page({ limit, cursor: undefined }, (bind) => [
          `(m.customer_id = ${bind(customerId)}::text::uuid
            or m.sender = (select c.email from customers c where c.id = ${bind(customerId)}::text::uuid and c.deleted_at is null))`
        ]).pipe(
          Effect.map(({ rows }): ReadonlyArray<IncomingMailRow> => rows),
          Effect.catchTag("InvalidCursor", Effect.die)
        ),
      retry: (id) =>
        Effect.map(
          ask.answer(
            "retryMail",
            Answer("retried", "ended"),
            write`select retry_incoming_mail(${id}::uuid) as answer`
          ),
          (answer) => answer ?? undefined
        ),
      setAside: (id, { reason, reply }) =>
        Effect.map(
          ask.answer(
            "setMailAside",
            Answer("set_aside", "ended"),
            write`select set_mail_aside(${id}::uuid, ${storable(reason)}, ${storable(reply)}) as answer`
          ),
          (answer) => answer ?? undefined
        )
    })
  })
)
