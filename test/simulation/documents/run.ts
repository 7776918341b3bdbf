import { Effect } from "effect"

import { estimateLlmCost } from "../../../src/domain/cascade/cost.ts"
import { runSeeded, type SimClock } from "../kernel.ts"
import type { Run, RunOptions, SimulatedWorld } from "../world.ts"
import { BUGS } from "./bugs.ts"
import { caller, wrongCalls } from "./callers.ts"
import { unfinished } from "./ledger.ts"
import { unfinishedMails, wrongMails } from "./mails.ts"
import { isByModel, markOf, type Paper, paperOf, shownPages, USAGE } from "./papers.ts"
import { admin, correspondent, heal, nemesis, owner } from "./people.ts"
import { type DocumentsWorld, FAULTS, makeWorld, PRICE } from "./setting.ts"

/** How long what is left may take once nothing fails any more, and how often that is looked at. */
const CALM_MS = 40 * 60 * 60_000
const LOOK_EVERY_MS = 10 * 60_000

/** The document behind a file. */
const paperBehind = ({ db, objects }: DocumentsWorld, fileId: string): Paper | undefined => {
  const key = db.files.get(fileId)?.objectKey
  const bytes = key === undefined ? undefined : objects.get(key)
  return bytes === undefined ? undefined : paperOf(bytes)
}

/** Whether each result shows each page once, in order, and nothing else (C1). */
const wrongResults = (world: DocumentsWorld): ReadonlyArray<string> => {
  const { db, objects } = world
  return db.files
    .where(({ deletedAt, kind, resultKey }) => deletedAt === null && resultKey !== null && kind === "pdf")
    .flatMap(({ id, resultKey }) => {
      const paper = paperBehind(world, id)
      const bytes = objects.get(resultKey ?? "")
      if (paper === undefined || bytes === undefined) return []
      const shown = shownPages(bytes)
      const right =
        shown.length === paper.pages.length &&
        shown.every(({ html, page }, at) => {
          if (page !== at) return false
          switch (paper.pages[at]) {
            case "broken":
              return html.includes("could not be read")
            case "blank":
              return html === ""
            default:
              return html.includes(markOf(paper.name, at))
          }
        })
      return right
        ? []
        : [`C1: a result of ${paper.pages.length} pages shows ${shown.map(({ page }) => page).join(" ")}`]
    })
}

/** Whether each result was paid for, once, page by page that could be read (F2, R2). */
const wrongCharges = (world: DocumentsWorld): ReadonlyArray<string> => {
  const { db, retriedFree } = world
  const found: Array<string> = []
  const readable = (fileId: string): number | undefined => {
    const paper = paperBehind(world, fileId)
    return paper?.pages.filter((page) => page !== "broken").length
  }
  const hold = (jobId: string, fileId: string, done: boolean, free: boolean) => {
    const charge = db.charges.get(jobId)
    const { credits = 0, freePages = 0 } = db.holds.get(jobId) ?? {}
    if (free && (charge !== undefined || credits + freePages > 0))
      found.push("F2: funds were set aside or charged for what is free")
    if (done && !free && charge === undefined) found.push("F2: a result was not charged")
    if (!done && charge !== undefined) found.push("F2: there is a charge, and no result")
    const pages = readable(fileId)
    const charged = charge === undefined ? undefined : charge.credits + charge.freePages
    if (charged !== undefined && pages !== undefined && charged !== pages)
      found.push(`R2: ${charged} pages were charged, and ${pages} could be read`)
  }
  for (const { fileId, id, options, status } of db.jobs.where())
    hold(id, fileId, status === "completed", options._compedFlyerJobId !== undefined || retriedFree.has(id))
  for (const { fileId, id, status } of db.flyers.where()) hold(id, fileId, status === "completed", false)
  for (const { deletedAt, id, jobId, kind, resultKey, status } of db.files.where())
    if (kind !== "pdf" && jobId !== null && deletedAt === null)
      hold(jobId, id, status === "completed" && resultKey !== null, false)
  return found
}

/** Whether each page that no model converted is named where one was asked for, and nothing without any such page charged (DOC-16). */
const wrongFidelity = (world: DocumentsWorld): ReadonlyArray<string> => {
  const { chronicle, db, objects } = world
  return db.files
    .where(({ deletedAt, resultKey }) => deletedAt === null && resultKey !== null)
    .flatMap((file) => {
      const paper = paperBehind(world, file.id)
      const bytes = objects.get(file.resultKey ?? "")
      if (paper === undefined || bytes === undefined) return []
      const [job] = db.jobs
        .where(({ fileId, status }) => fileId === file.id && status === "completed")
        .sort((one, other) => (other.finishedAt ?? 0) - (one.finishedAt ?? 0))
      const isWanted = job?.options.highFidelity === true || job?.options.mathOcr === true
      if (job === undefined || !isWanted) return []
      const shown = shownPages(bytes).filter(({ page }) => paper.pages[page] === "words")
      const without = shown.filter(({ html }) => !isByModel(html)).map(({ page }) => page + 1)
      const { noModelPages } = file
      if (without.length > 0) chronicle.saw("a result has pages without a model")
      return [
        ...(noModelPages.join() === without.join()
          ? []
          : [
              `DOC-16: no model converted the pages ${without.join(" ")}, and ${noModelPages.join(" ")} are named`
            ]),
        ...(shown.length > 0 && without.length === shown.length && db.charges.get(job.id) !== undefined
          ? ["DOC-16: high fidelity was charged, and no page has it"]
          : [])
      ]
    })
}

/** Whether the costs are those that the models reported (K1): never more, and all of them where every process could book. */
const wrongCosts = (world: DocumentsWorld): ReadonlyArray<string> => {
  const { db, forgetful, reported } = world
  const found: Array<string> = []
  const onDemand = db.ledger.where(({ metadata }) => metadata["batch"] !== true)
  for (const { id, name, objectKey } of db.files.where()) {
    if (objectKey === "" || name === "") continue
    const jobs = new Set([
      ...db.jobs.where(({ fileId }) => fileId === id).map((job) => job.id),
      ...onDemand.filter(({ metadata }) => metadata["fileId"] === id).map(({ jobId }) => jobId)
    ])
    const booked = onDemand
      .filter(({ jobId }) => jobs.has(jobId))
      .reduce((sum, { usage }) => sum + usage.inputTokens, 0)
    const answers = reported.filter((answer) => answer.name === name)
    const heard = answers.length * USAGE.inputTokens
    if (booked > heard) found.push(`K1: ${booked} tokens are booked for ${name}, and ${heard} were reported`)
    if (booked < heard && !answers.some(({ process }) => forgetful.has(process)))
      found.push(
        `K1: ${booked} tokens are booked for ${name}, and ${heard} were reported to processes that lived on`
      )
  }
  for (const { costUsd, usage, metadata } of db.ledger.where()) {
    const full = estimateLlmCost(usage, PRICE)
    if (Math.abs(costUsd - (metadata["batch"] === true ? full / 2 : full)) > 1e-9)
      found.push(`K1: ${costUsd} USD are booked for tokens of ${full} USD`)
  }
  for (const { id, options, totalCostUsd } of db.jobs.where()) {
    const entries = db.ledger.where(({ jobId }) => jobId === id)
    const sum = entries.reduce((all, { costUsd }) => all + costUsd, 0)
    const batch = options._batchCostUsd
    if (totalCostUsd !== null && Math.abs(sum - totalCostUsd) > 1e-9)
      found.push(`K1: a job's total is ${totalCostUsd} USD, its entries have ${sum} (batch: ${batch})`)
  }
  return found
}

/** Whether each batch job is billed once (B2), and is its conversion's only one. */
const wrongBatches = (world: DocumentsWorld): ReadonlyArray<string> => {
  const { batchJobs, chronicle, db } = world
  const found: Array<string> = []
  const ofBatch = db.ledger.where(({ metadata }) => metadata["batch"] === true)
  for (const { arn, id, jobId, state } of db.batches.where()) {
    const entries = ofBatch.filter((entry) => entry.jobId === jobId)
    const job = batchJobs.find((one) => one.arn === arn)
    if (entries.length > 1) found.push(`B2: a batch job is billed ${entries.length} times`)
    const billed = (entries[0]?.usage.inputTokens ?? 0) / USAGE.inputTokens
    const returned = job?.returned ?? 0
    const inFull =
      !chronicle.seen.has("a batch job could not be billed in full") &&
      !chronicle.seen.has("a bill is too low")
    if (billed > returned || (state === "closed" && inFull && billed < returned && job?.forgotten === false))
      found.push(`B2: ${returned} records were returned, and ${billed} are billed to ${id}`)
  }
  const conversions = Map.groupBy(batchJobs, ({ inputPrefix }) => inputPrefix.split("/")[1])
  for (const all of conversions.values())
    if (all.length > 1) found.push(`B2: there are ${all.length} batch jobs of one conversion`)
  for (const { arn, returned } of batchJobs)
    if (returned > 0 && !db.batches.where().some((row) => row.arn === arn))
      chronicle.saw("an orphaned batch job returned records")
  return found
}

/** Faults, branches and ends that some hundred runs must have met. */
const MUST_HAPPEN = [
  "SIGKILL",
  "SIGKILL at a call",
  "SIGSTOP",
  "SIGSTOP at a call",
  "SIGTERM",
  "database lost",
  "objects lost a get",
  "objects lost a put",
  "model throttled",
  "model refuses",
  "model truncates",
  "model skips words",
  "model answers hifi-single-pass",
  "model answers coverage-retry",
  "model answers agentic",
  "model answers math-ocr",
  "budget is spent",
  "account closed",
  "credits bought",
  "a collect failed",
  "a job was stranded",
  "batch create throttled",
  "batch job Completed",
  "batch job PartiallyCompleted",
  "batch job Failed",
  "batch job Stopped",
  "batch job Expired",
  "batch job asked to stop",
  "batch job forgotten",
  "batch job found by its name",
  "batch output comes late",
  "batch record cut off",
  "batch record failed",
  "batch record foreign",
  "batch record missing",
  "batch record twice",
  "batch record unreadable",
  "batch row closed: collected",
  "batch row closed: expired",
  "batch row closed: failed",
  "batch row closed: skipped",
  "batch service lost",
  "cancel: cancelled",
  "convert: insufficient",
  "delete: deleted",
  "process now: moved",
  "flyer completed",
  "flyer failed",
  "inline completed",
  "inline failed",
  "job completed",
  "job cancelled",
  "job failed",
  "job paused_budget",
  "hold settled",
  "hold released: cancelled",
  "hold released: failed",
  "a reply is refused",
  "a reply's answer is lost",
  "pipeline away",
  "pipeline crashed",
  "mail ended: duplicate",
  "mail ended: error",
  "mail ended: insufficient",
  "mail ended: no_attachment",
  "mail ended: success",
  "mail ended: unregistered",
  "a reader crashed",
  "a worker lacks the batch store",
  "every model: refuse",
  "every model: throttle",
  "a result has pages without a model",
  "grant: granted",
  "grant: repeated",
  "debit: debited",
  "debit: repeated",
  "debit: insufficient",
  "retry: queued",
  "retry: stopped",
  "retry: replaced",
  "retry of what is free of charge",
  "repeated call: answer",
  "repeated call: no answer"
]

/** One run of the documents side under faults, from a seed. */
const simulate = (seed: number, options: RunOptions): Promise<Run> =>
  runSeeded(
    seed,
    Effect.fnUntraced(function* (clock: SimClock) {
      const world = makeWorld(seed, options, clock)
      const { chronicle, db, ledger, spawn } = world
      const roughMs = options.limits.roughMinutes * 60_000
      for (const role of ["api", "worker", "worker", "leader", "leader", "intake", "intake"] as const)
        yield* spawn(role)
      for (let n = 0; n < options.limits.size; n++) yield* Effect.forkDetach(owner(world, n, roughMs))
      for (let n = 0; n < options.limits.size / 2; n++)
        yield* Effect.forkDetach(correspondent(world, n, roughMs))
      for (let n = 0; n < 2; n++) yield* Effect.forkDetach(caller(world, n, roughMs))
      yield* Effect.forkDetach(nemesis(world, roughMs))
      yield* Effect.forkDetach(admin(world, roughMs))
      yield* Effect.sleep(roughMs)
      yield* heal(world)
      const isUnderWay = () => unfinished(db).length + unfinishedMails(db).length > 0
      const calmUntil = clock.currentTimeMillisUnsafe() + CALM_MS
      do yield* Effect.sleep(LOOK_EVERY_MS)
      while (isUnderWay() && clock.currentTimeMillisUnsafe() < calmUntil)
      ledger.look()
      const violations = [
        ...ledger.violations,
        ...unfinished(db),
        ...unfinishedMails(db),
        ...wrongMails(db, world.sentMails, world.accepted, world.delivered()),
        ...wrongResults(world),
        ...wrongCharges(world),
        ...wrongCalls(world),
        ...wrongFidelity(world),
        ...wrongCosts(world),
        ...wrongBatches(world)
      ]
      for (const { outcome } of db.mails.where()) chronicle.saw(`mail ended: ${outcome}`)
      for (const { content, status } of db.replies.where()) chronicle.saw(`reply ${content.kind} ${status}`)
      for (const { status } of db.flyers.where()) chronicle.saw(`flyer ${status}`)
      for (const { deletedAt, kind, status } of db.files.where())
        if (kind !== "pdf" && deletedAt === null) chronicle.saw(`inline ${status}`)
      const trace = [
        ...db.jobs.where().map(({ finishedAt, id, status }) => `${finishedAt} ${id} ${status}`),
        ...db.mails.where().map(({ endedAt, id, outcome }) => `${endedAt} ${id} ${outcome}`),
        ...db.ledger.where().map(({ costUsd, createdAt, id }) => `${createdAt} ${id} ${costUsd}`)
      ].join("\n")
      return { seed, violations, seen: chronicle.seen, trace, story: chronicle.story() }
    })
  )

/**
 * Documents from their upload to their result: jobs, chunks, assembly, inline work, flyers, funds, and the batch lane under two
 * leaders; convert-by-email. Invariants C1 to C4, F1, F2, K1, X1 to X3, B1, B2, B4, B5, R1, R2, I1, I2, I4.
 */
export const documentsWorld: SimulatedWorld = {
  name: "documents",
  full: { size: 5, roughMinutes: 40, faults: FAULTS },
  bugs: BUGS,
  mustHappen: MUST_HAPPEN,
  simulate
}
