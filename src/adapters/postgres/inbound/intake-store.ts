import { Duration, Effect, Layer, Redacted, Schema } from "effect"

import { SuppressionReason } from "../../../domain/mail/suppression-policy.ts"
import { IntakeStore, type Shortage } from "../../../ports/inbound/intake-store.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { storable, toJsonText } from "../values.ts"
import { CustomerRow, FundsRow, KeptRow, keptOf, MailRow, mailOf, ReplyRow, replyOf } from "./rows.ts"
import { answerOf, done, firstOf, rowOf, rowsOf } from "./statement.ts"

const seconds = (duration: Duration.Duration): number => Duration.toMillis(duration) / 1000

const text = (value: string | undefined): string | null => (value === undefined ? null : storable(value))

const json = (value: unknown): string | null => (value === undefined ? null : toJsonText(value))

const Suppressions = Schema.Array(Schema.Struct({ reason: SuppressionReason }))
const Deferred = Schema.Literals(["deferred", "over", "stale"])
const Identified = Schema.Literals(["claimed", "duplicate", "limited", "stale"])
const LinkKey = Schema.Struct({ key: Schema.Uint8Array })

const shortage = (row: typeof FundsRow.Type): Shortage => ({
  plan: row.plan ?? "free",
  balance: row.balance ?? 0
})

/** The answer of a step that needs funds, in the terms of the port. */
const moved = <const A extends "admitted" | "completed">(
  row: typeof FundsRow.Type,
  whole: A
): Effect.Effect<A | "stale" | Shortage, StoreUnavailable> => {
  if (row.answer === "insufficient") return Effect.succeed(shortage(row))
  if (row.answer === "stale") return Effect.succeed("stale" as const)
  return row.answer === whole
    ? Effect.succeed(whole)
    : Effect.fail(
        new StoreUnavailable({
          operation: whole,
          reason: `an answer that does not fit: ${row.answer}`,
          isRetryable: false
        })
      )
}

const make = Effect.gen(function* () {
  const read = yield* ReadSql
  const sql = yield* WriteSql
  return IntakeStore.of({
    receive: (mail) =>
      done(sql`
        insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted)
        values (
          ${mail.id}::uuid, ${mail.rawKey}, ${mail.rawBytes}::bigint, ${storable(mail.envelopeFrom)},
          ${mail.peerTrusted}::boolean
        )
        on conflict (id) do nothing`),
    claim: (step, lease, stale) =>
      Effect.map(
        firstOf(
          MailRow,
          sql`select * from claim_mail(${lease}::uuid, ${seconds(stale)}::float8 * interval '1 second', ${step})`
        ),
        (row) => row && mailOf(row, lease)
      ),
    heartbeat: ({ id, lease }, window) =>
      answerOf(
        Schema.Boolean,
        sql`select heartbeat_mail(
          ${id}::uuid, ${lease}::uuid, ${seconds(window)}::float8 * interval '1 second'
        ) as answer`
      ),
    handBack: ({ id, lease }, { after, counts }) =>
      answerOf(
        Schema.Boolean,
        sql`select hand_back_mail(
          ${id}::uuid, ${lease}::uuid, ${seconds(after)}::float8 * interval '1 second', ${counts}::boolean
        ) as answer`
      ),
    defer: ({ id, lease }, { after, gap, limit, part, window }) =>
      answerOf(
        Deferred,
        sql`select defer_mail(
          ${id}::uuid, ${lease}::uuid, ${seconds(after)}::float8 * interval '1 second', ${part},
          ${seconds(gap)}::float8 * interval '1 second', ${seconds(limit)}::float8 * interval '1 second',
          ${seconds(window)}::float8 * interval '1 second'
        ) as answer`
      ),
    identify: ({ id, lease }, identity, limit) =>
      answerOf(
        Identified,
        sql`select identify_mail(
          ${id}::uuid, ${lease}::uuid, ${identity.identity}, ${text(identity.messageId)}, ${storable(identity.sender)},
          ${identity.contentSha256}, ${text(identity.subject)}, ${text(identity.references)}, ${limit}::integer,
          array(select jsonb_array_elements_text(${toJsonText(identity.signatures)}::jsonb))
        ) as answer`
      ),
    customer: (email) =>
      firstOf(
        CustomerRow,
        read`select c.id, c.email, f.plan, greatest(f.credits, f.free_pages) as balance
          from customers c, available_funds(c.id) f
          where c.email = ${storable(email)} and c.deleted_at is null`
      ),
    suppressions: (email) =>
      answerOf(Suppressions, read`select email_suppressions_of(array[${storable(email)}]) as answer`).pipe(
        Effect.map((found) => found.map(({ reason }) => reason))
      ),
    customerEmail: (customerId) =>
      Effect.map(
        firstOf(
          Schema.Struct({ email: Schema.String }),
          read`select email from customers where id = ${customerId}::uuid and deleted_at is null`
        ),
        (row) => row?.email
      ),
    admit: ({ id, lease }, admission) =>
      Effect.flatMap(
        rowOf(
          FundsRow,
          sql`select * from admit_mail(
            ${id}::uuid, ${lease}::uuid, ${admission.customerId}::uuid, ${storable(admission.filename)},
            ${admission.fileBytes}::integer, ${admission.pages}::integer, ${toJsonText(admission.ignored)}::jsonb,
            ${admission.sourceKey}, ${seconds(admission.window)}::float8 * interval '1 second',
            ${admission.recipient}, ${toJsonText(admission.acknowledgement)}::jsonb
          )`
        ),
        (row) => moved(row, "admitted")
      ),
    end: ({ id, lease }, end) =>
      answerOf(
        Schema.Boolean,
        sql`select end_mail(
          ${id}::uuid, ${lease}::uuid, ${end.outcome}, ${storable(end.reason)}, ${end.customerId ?? null}::uuid,
          ${text(end.filename)}, ${end.fileBytes ?? null}::integer, ${text(end.jobError)}, ${text(end.reply?.recipient)},
          ${json(end.reply?.content)}::jsonb, ${end.reply?.stranger ?? false}::boolean,
          ${end.reply?.brake ?? null}::integer
        ) as answer`
      ),
    finish: ({ id, lease }, result) =>
      Effect.flatMap(
        rowOf(
          FundsRow,
          sql`select * from complete_mail(
            ${id}::uuid, ${lease}::uuid, ${result.standardPages + result.complexPages}::integer,
            ${result.standardPages}::integer, ${result.complexPages}::integer, ${result.resultKey},
            ${result.resultBytes}::bigint, ${result.recipient}, ${toJsonText(result.reply)}::jsonb, ${result.asLink}::boolean
          )`
        ),
        (row) => moved(row, "completed")
      ),
    claimReply: (lease, hold) =>
      Effect.map(
        firstOf(
          ReplyRow,
          sql`select * from claim_reply(${lease}::uuid, ${seconds(hold)}::float8 * interval '1 second')`
        ),
        (row) => row && replyOf(row, lease)
      ),
    replySent: ({ id, lease }) =>
      answerOf(Schema.Boolean, sql`select end_reply(${id}::uuid, ${lease}::uuid, 'sent', null) as answer`),
    replyFailed: ({ id, lease }, error) =>
      answerOf(
        Schema.Boolean,
        sql`select end_reply(${id}::uuid, ${lease}::uuid, 'failed', ${storable(error)}) as answer`
      ),
    retryReply: ({ id, lease }, { after, asLink, error, unknown }) =>
      answerOf(
        Schema.Boolean,
        sql`select retry_reply(
          ${id}::uuid, ${lease}::uuid, ${seconds(after)}::float8 * interval '1 second', ${storable(error)}, ${asLink}::boolean,
          ${unknown}::boolean
        ) as answer`
      ),
    toClean: (limit, linkLives) =>
      rowsOf(
        Schema.Struct({ id: Schema.String, everything: Schema.Boolean }),
        sql`select * from mails_to_clean(
          ${limit}::integer, ${seconds(linkLives)}::float8 * interval '1 second'
        )`
      ),
    cleaned: (id, what) => done(sql`update intake_mails set cleaned = ${what} where id = ${id}::uuid`),
    withoutObjects: (ids) =>
      Effect.map(
        rowsOf(
          Schema.Struct({ id: Schema.String }),
          sql`select x.id from jsonb_array_elements_text(${toJsonText(ids)}::jsonb) as x(id)
            where not exists (
              select from intake_mails m where m.id = x.id::uuid and m.cleaned is distinct from 'all'
            )`
        ),
        (rows) => rows.map(({ id }) => id)
      ),
    purge: done(sql`select purge_intake()::text`),
    linkKey: Effect.map(rowOf(LinkKey, read`select key from intake_link_keys`), ({ key }) =>
      Redacted.make(key)
    ),
    keptResults: (customerId, linkLives) =>
      Effect.map(
        rowsOf(
          KeptRow,
          read`select * from kept_mail_results(
            ${customerId}::uuid, ${seconds(linkLives)}::float8 * interval '1 second'
          )`
        ),
        (rows) => rows.map(keptOf)
      ),
    result: (id) =>
      Effect.map(
        firstOf(
          Schema.Struct({ result_key: Schema.String, filename: Schema.NullOr(Schema.String) }),
          read`select result_key, filename from intake_mails
            where id = ${id}::uuid and outcome = 'success' and result_key is not null and cleaned is distinct from 'all'`
        ),
        (row) => row && { key: row.result_key, filename: row.filename ?? "document.pdf" }
      )
  })
})

/** Mails under way on PostgreSQL: the functions of `0007_inbound.sql`. */
export const layer: Layer.Layer<IntakeStore, never, ReadSql | WriteSql> = Layer.effect(IntakeStore, make)
