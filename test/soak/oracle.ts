import type { Copy, Evidence, Job, SendRow } from "./evidence.ts"
import { hashOf } from "./evidence.ts"
import { ANSWERING } from "./hooks.ts"
import { count, type MailStory } from "./journal.ts"

/** What a soak promises to be none. */
export const PROMISES = [
  "lost",
  "doubled",
  "stuck",
  "charged twice",
  "holds not released once",
  "untrue"
] as const
type Promised = (typeof PROMISES)[number]

export interface Violation {
  readonly promise: Promised
  /** Begins with the invariant's id. */
  readonly what: string
}

/** What a soak came to. */
export interface Verdict {
  readonly violations: ReadonlyArray<Violation>
  readonly counts: Readonly<Record<string, number>>
}

/** Around a moment at which a process did without the database, milliseconds. */
const SLACK_MS = 3_000

const INPUT_TOKENS = 100

/** A send, with everything that is known of it. */
interface Send {
  readonly story: MailStory
  readonly copies: ReadonlyArray<Copy>
  readonly rows: ReadonlyArray<SendRow>
}

interface Court {
  readonly evidence: Evidence
  readonly violations: Array<Violation>
  readonly counts: Record<string, number>
  /** When a process lost the database in a send: what needs it is let go then (S6). */
  readonly degraded: ReadonlyArray<number>
}

const accuse = ({ violations }: Court, promise: Promised, what: string, facts: unknown): void =>
  void violations.push({ promise, what: `${what} ${JSON.stringify(facts)}` })

const by = (copies: ReadonlyArray<Copy>, provider: Copy["provider"]) =>
  copies.filter((copy) => copy.provider === provider)

const spanOf = ({ copies, story }: Send): readonly [number, number] => {
  const moments = [
    ...story.answers.flatMap(({ askedAt, at }) => [askedAt, at]),
    ...copies.map(({ at }) => at)
  ]
  return [Math.min(...moments) - SLACK_MS, Math.max(...moments) + SLACK_MS]
}

/** Whether the database or the process was away in the course of a send. */
const wasDegraded = ({ degraded }: Court, send: Send): boolean => {
  const [from, until] = spanOf(send)
  return degraded.some((at) => at >= from && at <= until)
}

const wasFrozen = ({ evidence }: Court, send: Send): boolean => {
  const [from, until] = spanOf(send)
  return evidence.faults.hurts.some(
    (hurt) => hurt.kind === "freeze" && hurt.at <= until && hurt.until >= from
  )
}

/** A provider that dedupes takes a mail once, and no other one takes it too (S1, S2). */
const judgeCopies = (court: Court, send: Send): void => {
  const { copies, story } = send
  const [a, b] = [by(copies, "provider_a"), by(copies, "provider_b")]
  const facts = { story, copies }
  count(court.counts, "copies from provider_a", a.length)
  count(court.counts, "copies from provider_b", b.length)
  if (a.length > 1) accuse(court, "doubled", "S1 provider_a took it twice", facts)
  if (b.length > 1) count(court.counts, "second copies from provider_b (its documented window)", b.length - 1)
  if (a.length > 0 && b.length > 0) {
    if (wasDegraded(court, send)) count(court.counts, "copies from both while the database was away (S6)")
    else accuse(court, "doubled", "S2 both providers took it", facts)
  }
  const sentAt = story.answers.find(({ body }) => body.ok === true && body.status === "sent")?.at ?? Infinity
  if (b.some(({ at }) => at > sentAt + 50) && !wasFrozen(court, send) && !wasDegraded(court, send)) {
    accuse(court, "doubled", "S4 provider_b took a copy after it was answered as sent", facts)
  }
}

/** A mail that was cancelled, or whose transaction was rolled back, never leaves (Q1, Q6). */
const judgeNever = (court: Court, { copies, rows, story }: Send): void => {
  if (story.never === undefined) return
  if (copies.length > 0 || rows.length > 0)
    accuse(court, "untrue", `Q1 it was mailed, though ${story.never}`, { story, copies, rows })
}

/** What was answered as sent or deferred was accepted, or its row tells why not (D1, S5). */
const judgeEnd = (court: Court, send: Send): void => {
  const { copies, rows, story } = send
  const oks = story.answers.filter(({ body }) => body.ok === true)
  const facts = { story, copies, rows }
  const isEnded = rows.some(({ status }) => status === "failed" || status === "suppressed")
  if (oks.length > 0 && copies.length === 0 && !isEnded) accuse(court, "lost", "D1 it is lost", facts)
  for (const { body } of oks) {
    // That of a queued mail has no id of the provider.
    const isTaken =
      body.queueId === undefined
        ? copies.some(({ messageId }) => messageId === body.providerMessageId)
        : copies.length > 0
    if (body.status !== "sent" || isTaken) continue
    accuse(court, "lost", "S5 it was answered as sent, and nobody took it", facts)
  }
  if (rows.some(({ outcome }) => outcome === "sent") && copies.length === 0)
    accuse(court, "untrue", "L1 a row says sent, and nobody took it", facts)
  if (rows.length > 0 && rows.every(({ status }) => status === "deferred")) {
    accuse(court, "stuck", "D1 it is left deferred", facts)
  }
  if (
    story.key !== undefined &&
    story.never === undefined &&
    !story.answers.some(({ status }) => status !== 0)
  ) {
    accuse(court, "stuck", "D1 its client never got an answer", facts)
  }
}

const judgeSends = (court: Court): void => {
  const { copies, journal, rows } = court.evidence
  const copiesByToken = Map.groupBy(copies, ({ token }) => token ?? "")
  const rowsByToken = Map.groupBy(rows, ({ token }) => token ?? "")
  const rowsByKey = Map.groupBy(rows, ({ keyHash }) => keyHash)
  for (const story of journal.mails) {
    const own = story.key === undefined ? [] : (rowsByKey.get(hashOf(story.key)) ?? [])
    const send: Send = {
      story,
      copies: copiesByToken.get(story.token) ?? [],
      rows: [...new Set([...own, ...(rowsByToken.get(story.token) ?? [])])]
    }
    count(court.counts, "sends")
    const final = story.answers.at(-1)
    count(
      court.counts,
      `sends ended ${String(final?.body.ok === true ? final.body.status : (final?.body.kind ?? final?.body.code ?? "without an answer"))}`
    )
    judgeCopies(court, send)
    judgeNever(court, send)
    judgeEnd(court, send)
  }
}

/** Replies, alerts and every other mail: once a key (S1, S2). */
const judgeKeys = (court: Court): void => {
  const stories = new Set(court.evidence.journal.mails.map(({ token }) => token))
  const others = court.evidence.copies.filter(({ token }) => token === undefined || !stories.has(token))
  for (const [key, copies] of Map.groupBy(others, ({ keyHash }) => keyHash)) {
    count(court.counts, "other mails")
    const send: Send = { story: { token: key, key: undefined, answers: [] }, copies, rows: [] }
    judgeCopies(court, send)
  }
}

/** A delivery event that was taken shows in its row (E1). */
const judgeEvents = (court: Court): void => {
  const { alerted, journal, rows, suppressed } = court.evidence
  const byMessage = new Map(rows.map((row) => [row.messageId, row]))
  for (const event of journal.events) {
    const row = byMessage.get(event.messageId)
    if (row === undefined || row.status !== event.what)
      accuse(court, "lost", "E1 an event that was taken does not show", { event, row })
    if (event.what !== "bounced") continue
    count(court.counts, "bounces")
    if (!suppressed.has(event.to)) accuse(court, "lost", "P1 a bounce suppresses nobody", event)
    if (!alerted.has(event.messageId)) accuse(court, "lost", "A1 a bounce was never alerted", event)
  }
}

/** Each end of a mail is an event for every receiver, and each event that is noted as received was received (O1). */
const judgeHooks = (court: Court): void => {
  const { deliveries, received, rows } = court.evidence
  for (const receiver of ANSWERING) {
    const own = deliveries.filter((one) => one.receiver === receiver)
    const known = new Set(own.map(({ sendId }) => sendId))
    for (const delivery of own) {
      count(court.counts, `events ${delivery.state}, receiver ${receiver}`)
      if (delivery.state === "delivered" && received.get(receiver)?.has(delivery.messageId) !== true)
        accuse(court, "lost", "O1 an event is noted as received, and was not", delivery)
    }
    for (const row of rows)
      if (row.outcome === "sent" && !known.has(row.id))
        accuse(court, "lost", "O1 the end of a mail is no event", { receiver, row })
  }
}

const judgeJob = (court: Court, job: Job): void => {
  const isDone = job.status === "completed"
  count(court.counts, `conversions ${job.status}`)
  if (job.found !== undefined && job.found.some((times) => times !== 1))
    accuse(court, job.found.includes(0) ? "lost" : "doubled", "C1 its pages are not each there once", job)
  if (job.charges > 1) accuse(court, "charged twice", "F2 it was charged twice", job)
  if (isDone && job.credits !== job.pages)
    accuse(court, "untrue", "F2 its pages are not what was charged", job)
  if (!isDone && job.charges > 0) accuse(court, "untrue", "F2 it did not end well, and was charged", job)
  if (job.hold !== (isDone ? "settled" : "released"))
    accuse(court, "holds not released once", "F1 its hold", job)
  if (job.batchJobs > 1) accuse(court, "doubled", "B2 it has two batch jobs", job)
  if (job.bills > 1) accuse(court, "charged twice", "B2 its batch job was billed twice", job)
  if (!job.isStopped && job.bills !== (job.answered > 0 ? 1 : 0))
    accuse(court, "untrue", "B2 its batch job and its bill", job)
  if (job.billed > job.answered * INPUT_TOKENS)
    accuse(court, "charged twice", "K1 more was billed than came", job)
}

const judgeDocuments = (court: Court): void => {
  const { balances, files, jobs, journal } = court.evidence
  const known = new Set(jobs.map(({ id }) => id))
  for (const { jobId } of journal.conversions) {
    count(court.counts, "conversions taken")
    if (!known.has(jobId)) accuse(court, "lost", "C4 a conversion that was taken is gone", jobId)
  }
  for (const id of journal.uploads) if (!files.has(id)) accuse(court, "lost", "R1 an upload is gone", id)
  for (const job of jobs) judgeJob(court, job)
  for (const balance of balances) {
    const { began, charged, held, left } = balance
    if (left + charged !== began) accuse(court, "charged twice", "F1 the money does not add up", balance)
    if (held > 0) accuse(court, "holds not released once", "F1 funds are held", balance)
  }
}

/** Mails that nobody could read, since their reader was killed four times: their rows end with that reason, and know no subject (I4). */
const judgeUnread = (court: Court, gone: ReadonlyArray<string>): void => {
  const unread = court.evidence.mailed.filter(
    ({ outcome, token }) => token === undefined && outcome === "error"
  )
  count(court.counts, "mails to convert set aside unread, their reader killed four times", unread.length)
  for (const token of gone.slice(unread.length))
    accuse(court, "lost", "I2 a mail that was taken is gone", token)
}

const judgeMailed = (court: Court): void => {
  const byToken = Map.groupBy(court.evidence.mailed, ({ token }) => token ?? "")
  const taken = court.evidence.journal.mailed.map(({ token }) => token)
  judgeUnread(
    court,
    taken.filter((token) => !byToken.has(token))
  )
  for (const { token } of court.evidence.journal.mailed) {
    const all = byToken.get(token) ?? []
    const done = all.filter(({ outcome }) => outcome === "success")
    const facts = { token, all }
    count(court.counts, "mails to convert taken")
    count(
      court.counts,
      `mails to convert ended ${done.length > 0 ? "success" : (all[0]?.outcome ?? "unread")}`
    )
    if (done.length > 1) accuse(court, "doubled", "I1 one mail was converted twice", facts)
    if (all.reduce((sum, { charges }) => sum + charges, 0) > 1)
      accuse(court, "charged twice", "I1 one mail was charged twice", facts)
    for (const { charges, jobs, reply } of done) {
      if (charges !== 1 || jobs !== 1) accuse(court, "untrue", "F2 its charge and its row", facts)
      if (reply === null) accuse(court, "lost", "I2 it has no reply", facts)
    }
  }
}

/** Holds what the vendors accepted against the tables and against what the clients heard. */
export const judge = (evidence: Evidence): Verdict => {
  const court: Court = {
    evidence,
    violations: [],
    counts: {},
    degraded: evidence.lines.flatMap(({ at, message }) => (message.startsWith("mail store: ") ? [at] : []))
  }
  judgeSends(court)
  judgeKeys(court)
  judgeEvents(court)
  judgeHooks(court)
  judgeDocuments(court)
  judgeMailed(court)
  for (const what of evidence.stuck) accuse(court, "stuck", "D1 it does not end:", what)
  for (const what of evidence.journal.internal.filter((text) => !text.includes('"retryable":true')))
    accuse(court, "untrue", "HTTP-3 a fault that passes was answered as our own failure", what)
  count(court.counts, "dead letters", evidence.deadLetters)
  count(court.counts, "sends that did without the database", court.degraded.length)
  return { violations: court.violations, counts: court.counts }
}
