import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { GetObjectCommand } from "@aws-sdk/client-s3"
import { Effect } from "effect"

import type { ResendPayload } from "../support/vendors/fake-resend.ts"
import type { SesPayload } from "../support/vendors/fake-ses.ts"
import type { FaultLog } from "./faults.ts"
import { ANSWERING, deliveriesOf, type HookDelivery, type Receivers } from "./hooks.ts"
import { type Journal, tokenIn } from "./journal.ts"
import { FILES_BUCKET, type World } from "./world.ts"

/** A copy that left, by a vendor's own log. */
export interface Copy {
  readonly provider: "provider_a" | "provider_b"
  /** As the rows have it. */
  readonly messageId: string
  /** SHA-256 of the idempotency key. */
  readonly keyHash: string
  readonly token: string | undefined
  readonly at: number
}

/** A row of the send log. */
export interface SendRow {
  readonly id: string
  readonly keyHash: string
  readonly token: string | undefined
  readonly status: string
  readonly outcome: string | null
  readonly messageId: string | null
}

/** A conversion as its tables have it. */
export interface Job {
  readonly id: string
  readonly status: string
  readonly pages: number
  /** How often each page stands in the result; undefined where there is none. */
  readonly found: ReadonlyArray<number> | undefined
  readonly charges: number
  readonly credits: number
  readonly hold: string | null
  readonly bills: number
  readonly batchJobs: number
  /** Its batch job was stopped, perhaps while it was answered. */
  readonly isStopped: boolean
  readonly answered: number
  readonly billed: number
}

/** A mail to convert as its tables have it. */
export interface Mailed {
  readonly token: string | undefined
  readonly outcome: string | null
  readonly jobs: number
  readonly charges: number
  readonly reply: string | null
}

/** A customer's money. */
export interface Balance {
  readonly email: string
  readonly began: number
  readonly left: number
  readonly charged: number
  readonly held: number
}

/** A line that a process wrote. */
export interface Line {
  readonly slot: string
  readonly number: number
  readonly at: number
  readonly message: string
}

/** All that is held against one another. */
export interface Evidence {
  readonly journal: Journal
  readonly faults: FaultLog
  readonly copies: ReadonlyArray<Copy>
  readonly rows: ReadonlyArray<SendRow>
  readonly suppressed: ReadonlySet<string>
  /** Mails whose alert was raised, or waits for the sweep that raises it again. */
  readonly alerted: ReadonlySet<string>
  readonly deadLetters: number
  readonly files: ReadonlySet<string>
  readonly jobs: ReadonlyArray<Job>
  readonly mailed: ReadonlyArray<Mailed>
  readonly balances: ReadonlyArray<Balance>
  /** Events for receivers, and the ids of those that each has answered. */
  readonly deliveries: ReadonlyArray<HookDelivery>
  readonly received: Receivers["received"]
  /** What did not end, in words. */
  readonly stuck: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
}

export const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex")

interface Logged<Payload> {
  readonly id: string
  readonly key: string
  readonly at: number
  readonly payload: Payload
}

const logged = <Payload>(file: string): ReadonlyArray<Logged<Payload>> =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Logged<Payload>)

/** A mail about another one has its subject, too. */
const isAlert = (to: string): boolean => to.includes("alerts@")

const subjectOf = ({ Content }: SesPayload): string =>
  Content?.Simple?.Subject.Data ?? Buffer.from(Content?.Raw?.Data ?? "", "base64").toString("latin1")

/** `hashes`: of the key that a tag names. */
const copiesOf = (
  resendLog: string,
  sesLog: string,
  hashes: ReadonlyMap<string, string>
): ReadonlyArray<Copy> => [
  ...logged<ResendPayload>(resendLog).map(({ at, id, key, payload }): Copy => ({
    provider: "provider_a",
    messageId: id,
    keyHash: hashOf(key),
    token: isAlert(String(payload.to)) ? undefined : tokenIn(payload.subject),
    at
  })),
  ...logged<SesPayload>(sesLog).map(({ at, id, key, payload }): Copy => ({
    provider: "provider_b",
    messageId: `0100${id}-000000`,
    keyHash: hashes.get(key) ?? key,
    token: isAlert(String(payload.Destination?.ToAddresses)) ? undefined : tokenIn(subjectOf(payload)),
    at
  }))
]

/** Every line of every process; one that a kill cut short is left out. */
const linesIn = (logs: string): ReadonlyArray<Line> =>
  readdirSync(logs).flatMap((file) => {
    const [, slot = "", number = ""] = /^(.+)-(\d{4})\.log$/.exec(file) ?? []
    return readFileSync(join(logs, file), "utf8")
      .split("\n")
      .flatMap((line): ReadonlyArray<Line> => {
        const [, at = "", json = ""] = /^(\d+) (.*)$/.exec(line) ?? []
        try {
          const { message } = JSON.parse(json) as { readonly message?: string }
          return message === undefined ? [] : [{ slot, number: Number(number), at: Number(at), message }]
        } catch {
          return []
        }
      })
  })

const pagesFound = async (world: World, key: string, pages: number): Promise<ReadonlyArray<number>> => {
  const { Body } = await world.s3.send(new GetObjectCommand({ Bucket: FILES_BUCKET, Key: key }))
  const html = (await Body?.transformToString()) ?? ""
  const main = html.slice(html.search(/<body/))
  return Array.from(
    { length: pages },
    (_, page) => main.split(new RegExp(`Page number ${page + 1}(?!\\d)`)).length - 1
  )
}

const jobsOf = async (world: World): Promise<ReadonlyArray<Job>> => {
  const rows = await world.query<
    Omit<Job, "found" | "batchJobs" | "isStopped" | "answered"> & { readonly result: string | null }
  >(
    `select j.id, j.status, f.pages, case when f.job_id = j.id then f.result_key end as result,
      (select count(*)::int from credit_charges c where c.job_id = j.id) as charges,
      (select coalesce(sum(c.credits), 0)::int from credit_charges c where c.job_id = j.id) as credits,
      (select h.state from funds_holds h where h.job_id = j.id) as hold,
      (select count(*)::int from cost_ledger l where l.job_id = j.id and l.source = 'batch') as bills,
      (select coalesce(sum(l.input_tokens), 0)::int from cost_ledger l where l.job_id = j.id and l.source = 'batch') as billed
    from large_conversion_jobs j join files f on f.id = j.file_id`
  )
  const { answered, batch } = world.models
  return Promise.all(
    rows.map(async ({ result, ...row }): Promise<Job> => {
      const mine = [...batch.jobs.values()].filter(({ body }) => body.jobName.includes(row.id))
      return {
        ...row,
        found:
          row.status === "completed" && result !== null
            ? await pagesFound(world, result, row.pages)
            : undefined,
        batchJobs: mine.length,
        isStopped: mine.some(({ status }) => status === "Stopped"),
        answered: mine.reduce((sum, { body }) => sum + (answered.get(body.jobName) ?? 0), 0)
      }
    })
  )
}

/**
 * What is still under way, in words; an empty list is a system at rest. A reply whose send was deferred is not: it asks how that ended when the
 * last retry must be over, half an hour later.
 */
export const underWay = async (world: World): Promise<ReadonlyArray<string>> => {
  const [row] = await world.query<Readonly<Record<string, number>>>(
    `select
      (select count(*)::int from (select from email_log group by idempotency_key having bool_and(status = 'deferred')) d) as "sends deferred",
      (select count(*)::int from email_send_claims where state = 'held' and lease_until > clock_timestamp()) as "claims held",
      (select count(*)::int from email_send_queue where ended_at is null) as "mails in the send queue",
      (select count(*)::int from event_hook_deliveries d join event_hooks h on h.id = d.hook_id
        where d.state = 'pending' and d.next_at <= now() and substring(h.url from '[a-z]+$') = any ($1::text[])) as "events due at receivers that answer",
      (select count(*)::int from convert_queue) as "conversions queued",
      (select count(*)::int from large_conversion_jobs where status not in ('completed', 'failed', 'cancelled')) as "conversions under way",
      (select count(*)::int from files where status in ('processing', 'chunked_processing')) as "files under way",
      (select count(*)::int from conversion_batch_jobs where state <> 'closed') as "batch rows open",
      (select count(*)::int from funds_holds where state = 'held') as "holds",
      (select count(*)::int from intake_mails where step <> 'ended') as "mails under way",
      (select count(*)::int from intake_replies
        where status = 'queued' and (error is distinct from 'deferred' or not_before <= now())) as "replies queued"`,
    [[...ANSWERING]]
  )
  const queued = await Effect.runPromise(world.sqs.count(world.queue.url))
  return Object.entries({ ...row, "messages in the retry queue": queued })
    .filter(([, number]) => number > 0)
    .map(([what, number]) => `${number} ${what}`)
}

/** The hashes of the keys that tags name. */
const hashesOf = async (world: World): Promise<ReadonlyMap<string, string>> => {
  const known = await world.query<{ readonly tag: string; readonly hash: string }>(
    `select key_tag as tag, key_hash as hash from email_log where key_tag is not null and key_hash is not null
     union select tag, key_hash from email_send_claims where tag is not null`
  )
  return new Map(known.map(({ hash, tag }) => [tag, hash]))
}

const rowsOf = async (world: World): Promise<ReadonlyArray<SendRow>> => {
  const rows = await world.query<{
    readonly id: string
    readonly key: string | null
    readonly subject: string | null
    readonly status: string
    readonly outcome: string | null
    readonly message_id: string | null
    readonly to: string
  }>(
    `select id, idempotency_key as key, subject, status, outcome, provider_message_id as message_id, to_addresses::text as to from email_log`
  )
  return rows.map(({ id, key, message_id, outcome, status, subject, to }) => ({
    id,
    keyHash: key === null ? "" : hashOf(key),
    token: isAlert(to) ? undefined : tokenIn(subject),
    status,
    outcome,
    messageId: message_id
  }))
}

const mailedOf = async (world: World): Promise<ReadonlyArray<Mailed>> => {
  const rows = await world.query<Omit<Mailed, "token"> & { readonly subject: string | null }>(
    `select m.subject, m.outcome,
      (select count(*)::int from conversion_jobs j where j.id = m.id and j.status = 'success') as jobs,
      (select count(*)::int from credit_charges c where c.job_id = m.id) as charges,
      (select r.status from intake_replies r where r.mail_id = m.id and r.kind = 'success') as reply
    from intake_mails m`
  )
  return rows.map(({ subject, ...row }) => ({ ...row, token: tokenIn(subject) }))
}

const emails = async (world: World, statement: string): Promise<ReadonlySet<string>> =>
  new Set((await world.query<{ readonly value: string }>(statement)).map(({ value }) => value))

/** Reads everything there is once the world is at rest. */
export const gather = async (
  world: World,
  journal: Journal,
  faults: FaultLog,
  began: number
): Promise<Evidence> => ({
  journal,
  faults,
  copies: copiesOf(world.resend.log, world.ses.log, await hashesOf(world)),
  rows: await rowsOf(world),
  suppressed: await emails(world, "select email as value from email_suppressions"),
  alerted: await emails(
    world,
    `select l.provider_message_id as value from email_log l where l.provider_message_id is not null
      and (l.alerted_at is not null or exists (select from email_alerts a where a.send_id = l.id))`
  ),
  deadLetters:
    world.queue.deadLetterUrl === undefined
      ? 0
      : await Effect.runPromise(world.sqs.count(world.queue.deadLetterUrl)),
  files: await emails(world, "select id::text as value from files"),
  jobs: await jobsOf(world),
  mailed: await mailedOf(world),
  balances: (
    await world.query<Omit<Balance, "began">>(
      `select c.email, c.credits_remaining as left,
        (select coalesce(sum(x.credits), 0)::int from credit_charges x where x.customer_id = c.id) as charged,
        (select count(*)::int from funds_holds h where h.customer_id = c.id and h.state = 'held') as held
      from customers c where c.email like 'owner%@soak.test'`
    )
  ).map((row) => ({ ...row, began })),
  deliveries: await deliveriesOf(world.query),
  received: world.receivers.received,
  stuck: await underWay(world),
  lines: linesIn(world.logs)
})
