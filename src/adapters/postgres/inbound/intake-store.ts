import { Effect, Layer, Schema } from "effect"

import { MailId } from "../../../domain/ids.ts"
import { BlockReason } from "../../../domain/mail/suppression/policy.ts"
import { IntakeStore, type Shortage } from "../../../ports/inbound/intake-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { readLinkKey } from "../link-key.ts"
import { storeUnavailable } from "../statement.ts"
import { interval, storable, storableOrNull, toJsonText } from "../values.ts"
import { ask, CustomerRow, FundsRow, KeptRow, MailRow, mailOf, ReplyRow, replyOf } from "./rows.ts"

type Store = IntakeStore["Service"]
type Sql = WriteSql["Service"]

const json = (value: unknown): string | null => (value === undefined ? null : toJsonText(value))

const Suppressions = Schema.Array(Schema.Struct({ reason: BlockReason }))
const Deferred = Schema.Literals(["deferred", "over", "stale"])
const Identified = Schema.Literals(["claimed", "duplicate", "limited", "stale"])

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
    : Effect.fail(storeUnavailable(whole)(`an answer that does not fit: ${row.answer}`))
}

/** A mail from its arrival to its sender, under its lease. */
const mailsOn = (
  sql: Sql
): Pick<Store, "receive" | "claim" | "heartbeat" | "handBack" | "defer" | "identify"> => ({
  receive: (mail) =>
    ask.done(
      "receive",
      sql`select receive_mail(
        ${mail.id}::uuid, ${mail.rawKey}, ${mail.rawBytes}::bigint, ${storable(mail.envelopeFrom)},
        ${mail.peerTrusted}::boolean, ${storableOrNull(mail.verifiedSender)}, ${mail.ended?.outcome ?? null},
        ${storableOrNull(mail.ended?.reason)}, ${mail.home}
      )::text`
    ),
  claim: (step, lease, stale, home, { mostPages, ofIdle } = {}) =>
    Effect.map(
      ask.first(
        "claim",
        MailRow,
        step === "converting"
          ? sql`select * from claim_converting_mail(
              ${lease}::uuid, ${interval(stale)}::interval, ${home}, ${mostPages ?? null}::integer,
              ${ofIdle === true}::boolean
            )`
          : sql`select * from claim_received_mail(${lease}::uuid, ${interval(stale)}::interval, ${home})`
      ),
      (row) => row && mailOf(row, lease)
    ),
  heartbeat: ({ id, lease }, window) =>
    ask.answer(
      "heartbeat",
      Schema.Boolean,
      sql`select heartbeat(
        'mail', ${id}::uuid, ${lease}::uuid, ${interval(window)}::interval
      ) as answer`
    ),
  handBack: ({ id, lease }, { after, counts }) =>
    ask.answer(
      "handBack",
      Schema.Boolean,
      sql`select hand_back_mail(
        ${id}::uuid, ${lease}::uuid, ${interval(after)}::interval, ${counts}::boolean
      ) as answer`
    ),
  defer: ({ id, lease }, { after, gap, limit, part, window }) =>
    ask.answer(
      "defer",
      Deferred,
      sql`select defer_mail(
        ${id}::uuid, ${lease}::uuid, ${interval(after)}::interval, ${part},
        ${interval(gap)}::interval, ${interval(limit)}::interval,
        ${interval(window)}::interval
      ) as answer`
    ),
  identify: ({ id, lease }, identity, limit) =>
    ask.answer(
      "identify",
      Identified,
      sql`select identify_mail(
        ${id}::uuid, ${lease}::uuid, ${identity.identity}, ${storableOrNull(identity.messageId)}, ${storable(identity.sender)},
        ${identity.contentSha256}, ${storableOrNull(identity.subject)}, ${storableOrNull(identity.references)}, ${limit}::integer,
        array(select jsonb_array_elements_text(${toJsonText(identity.signatures)}::jsonb))
      ) as answer`
    )
})

/** Its customer, the funds, and how it ends. */
const endsOn = (
  read: ReadSql["Service"],
  sql: Sql
): Pick<Store, "customer" | "suppressions" | "customerEmail" | "admit" | "end" | "finish"> => ({
  customer: (email) =>
    ask.first(
      "customer",
      CustomerRow,
      read`select c.id, c.email, f.plan, greatest(f.credits, f.free_pages) as balance
        from customers c, available_funds(c.id) f
        where c.email = ${storable(email)} and c.deleted_at is null`
    ),
  suppressions: (email) =>
    ask
      .answer(
        "suppressions",
        Suppressions,
        read`select email_suppressions_of(array[${storable(email)}]) as answer`
      )
      .pipe(Effect.map((found) => found.map(({ reason }) => reason))),
  customerEmail: (customerId) =>
    Effect.map(
      ask.first(
        "customerEmail",
        Schema.Struct({ email: Schema.String }),
        read`select email from customers where id = ${customerId}::uuid and deleted_at is null`
      ),
      (row) => row?.email
    ),
  admit: ({ id, lease }, admission) =>
    Effect.flatMap(
      ask.one(
        "admit",
        FundsRow,
        sql`select * from admit_mail(
          ${id}::uuid, ${lease}::uuid, ${admission.customerId}::uuid, ${storable(admission.filename)},
          ${admission.fileBytes}::integer, ${admission.pages}::integer, ${toJsonText(admission.ignored)}::jsonb,
          ${admission.sourceKey}, ${interval(admission.window)}::interval,
          ${admission.recipient}, ${toJsonText(admission.acknowledgement)}::jsonb
        )`
      ),
      (row) => moved(row, "admitted")
    ),
  end: ({ id, lease }, end) =>
    ask.answer(
      "end",
      Schema.Boolean,
      sql`select end_mail(
        ${id}::uuid, ${lease}::uuid, ${end.outcome}, ${storable(end.reason)}, ${end.customerId ?? null}::uuid,
        ${storableOrNull(end.filename)}, ${end.fileBytes ?? null}::integer, ${storableOrNull(end.jobError)}, ${storableOrNull(end.reply?.recipient)},
        ${json(end.reply?.content)}::jsonb, ${end.reply?.stranger ?? false}::boolean,
        ${end.reply?.brake ?? null}::integer
      ) as answer`
    ),
  finish: ({ id, lease }, result) =>
    Effect.flatMap(
      ask.one(
        "finish",
        FundsRow,
        sql`select * from complete_mail(
          ${id}::uuid, ${lease}::uuid, ${result.standardPages + result.complexPages}::integer,
          ${result.standardPages}::integer, ${result.complexPages}::integer, ${result.resultKey},
          ${result.resultBytes}::bigint, ${result.recipient}, ${toJsonText(result.reply)}::jsonb, ${result.asLink}::boolean
        )`
      ),
      (row) => moved(row, "completed")
    )
})

/** The replies. */
const repliesOn = (sql: Sql): Pick<Store, "claimReply" | "replySent" | "replyFailed" | "retryReply"> => ({
  claimReply: (lease, hold, home) =>
    Effect.map(
      ask.first(
        "claimReply",
        ReplyRow,
        sql`select * from claim_reply(${lease}::uuid, ${interval(hold)}::interval, ${home})`
      ),
      (row) => row && replyOf(row, lease)
    ),
  replySent: ({ id, lease }) =>
    ask.answer(
      "replySent",
      Schema.Boolean,
      sql`select end_reply(${id}::uuid, ${lease}::uuid, 'sent', null) as answer`
    ),
  replyFailed: ({ id, lease }, error) =>
    ask.answer(
      "replyFailed",
      Schema.Boolean,
      sql`select end_reply(${id}::uuid, ${lease}::uuid, 'failed', ${storable(error)}) as answer`
    ),
  retryReply: ({ id, lease }, { after, asLink, error, unknown }) =>
    ask.answer(
      "retryReply",
      Schema.Boolean,
      sql`select retry_reply(
        ${id}::uuid, ${lease}::uuid, ${interval(after)}::interval, ${storable(error)}, ${asLink}::boolean,
        ${unknown}::boolean
      ) as answer`
    )
})

/** Results that are kept, and the clean-up. */
const resultsOn = (
  read: ReadSql["Service"],
  sql: Sql
): Pick<
  Store,
  "toClean" | "waitingSince" | "cleaned" | "withoutObjects" | "purge" | "linkKey" | "keptResults" | "result"
> => ({
  toClean: (limit, linkLives, home) =>
    ask.rows(
      "toClean",
      Schema.Struct({ id: MailId, everything: Schema.Boolean }),
      sql`select * from mails_to_clean(
        ${limit}::integer, ${interval(linkLives)}::interval, ${home}
      )`
    ),
  waitingSince: (age) =>
    ask.answer(
      "waitingSince",
      Schema.Int,
      read`select count(*)::integer as answer from intake_mails where step <> 'ended'
        and not_before < clock_timestamp() - ${interval(age)}::interval
        and (lease is null or heartbeat_at < clock_timestamp() - ${interval(age)}::interval)`
    ),
  cleaned: (id, what) =>
    ask.done("cleaned", sql`update intake_mails set cleaned = ${what} where id = ${id}::uuid`),
  withoutObjects: (ids) =>
    Effect.map(
      ask.rows(
        "withoutObjects",
        Schema.Struct({ id: MailId }),
        sql`select x.id from jsonb_array_elements_text(${toJsonText(ids)}::jsonb) as x(id)
          where (
            select m.cleaned is distinct from 'all' from intake_mails m where m.id = x.id::uuid
          ) is not true`
      ),
      (rows) => rows.map(({ id }) => id)
    ),
  purge: ask.done("purge", sql`select purge_intake()::text`),
  linkKey: readLinkKey(read, "intake_link_keys"),
  keptResults: (customerId, linkLives) =>
    ask.rows(
      "keptResults",
      KeptRow,
      read`select id, coalesce(name, 'document.pdf') as name, pages, unreadable_pages, has_text, credits as credits_charged,
          converted_at, reply, expires_at
        from kept_mail_results(${customerId}::uuid, ${interval(linkLives)}::interval)`
    ),
  result: (id) =>
    ask.first(
      "result",
      Schema.Struct({ key: Schema.String, filename: Schema.String }),
      read`select result_key as key, coalesce(filename, 'document.pdf') as filename from intake_mails
        where id = ${id}::uuid and outcome = 'success' and result_key is not null and cleaned is distinct from 'all'`
    )
})

/** Mails under way on PostgreSQL: the functions of `inbound`. */
export const layer: Layer.Layer<IntakeStore, never, ReadSql | WriteSql> = Layer.effect(
  IntakeStore,
  Effect.gen(function* () {
    const read = yield* ReadSql
    const write = yield* WriteSql
    return IntakeStore.of({
      ...mailsOn(write),
      ...endsOn(read, write),
      ...repliesOn(write),
      ...resultsOn(read, write)
    })
  })
)
