import { createHash } from "node:crypto"

import { Duration, Effect } from "effect"

import type { FileKind } from "../../../../src/domain/conversion/file.ts"
import type { JobId, LeaseId, WorkId } from "../../../../src/domain/ids.ts"
import type { BatchEnd } from "../../../../src/ports/batch/batch-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { cost } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import type { World } from "./world.ts"

/** One thing that a user, a worker, a leader or time does; `a` and `b` choose among what there is. */
export type Step = (world: World, a: number, b: number) => Effect.Effect<unknown, StoreUnavailable>

const WINDOW = Duration.minutes(90)
const STALE = Duration.minutes(1)
const MAX_ATTEMPTS = 2
const KINDS: ReadonlyArray<FileKind> = ["pdf", "pdf", "pdf", "png", "docx"]
const LIVES = Duration.days(14)

/** One of the newest few. */
const pick = <A>(those: ReadonlyArray<A>, n: number): A | undefined =>
  those.length === 0 ? undefined : those[those.length - 1 - (n % Math.min(those.length, 4))]

/** Runs a step on one of those, if there is any. */
const on =
  <A>(
    those: (world: World) => ReadonlyArray<A>,
    step: (world: World, chosen: A, b: number) => Effect.Effect<unknown, StoreUnavailable>
  ): Step =>
  (world, a, b) => {
    const chosen = pick(those(world), a)
    return chosen === undefined ? Effect.void : step(world, chosen, b)
  }

/** Claims under a new lease, and keeps what was claimed. */
const claim =
  <A>(
    ask: (world: World, lease: LeaseId, b: number) => Effect.Effect<A | undefined, StoreUnavailable>,
    into: (world: World) => Array<A>
  ): Step =>
  (world, _, b) =>
    Effect.map(ask(world, anyId(), b), (claimed) => {
      if (claimed !== undefined) into(world).push(claimed)
    })

const costs = (jobId: WorkId, lease: LeaseId) => [
  { ...cost(jobId, (Number.parseInt(lease.slice(0, 2), 16) + 1) / 1000), id: lease }
]

const failureOf = (jobId: WorkId, lease: LeaseId) => ({
  error: "no",
  costs: costs(jobId, lease),
  retryIn: Duration.zero,
  maxAttempts: MAX_ATTEMPTS
})

const files: Record<string, Step> = {
  addFile: ({ conversions, files: all, owners }, a, b) => {
    const id = anyId()
    const owner = owners[a % 4 === 0 ? 1 : 0]!
    all.push({ id, owner: anyId(owner) })
    return Effect.catchTag(
      conversions.addFile({
        id,
        customerId: anyId(owner),
        name: "f",
        kind: KINDS[b % KINDS.length] ?? "pdf",
        sizeBytes: 1,
        pages: 1 + (b % 5),
        objectKey: `files/${id}`,
        leftOut: b % 2 === 0 ? null : { portfolio: false, files: ["a.csv"], fileCount: 1, remarks: b % 5 }
      }),
      "NoRoomForFile",
      Effect.die
    )
  },
  request: on(
    (world) => world.files,
    ({ conversions, jobs }, { id: fileId, owner: customerId }, b) => {
      const jobId = anyId()
      jobs.push(jobId)
      const options = b % 2 === 0 ? { highFidelity: true } : {}
      return conversions.request({ jobId, fileId: anyId(fileId), customerId, options, window: WINDOW })
    }
  ),
  createJob: ({ conversions }, _, b) =>
    Effect.flatMap(conversions.nextQueued, (queued) =>
      queued === undefined
        ? Effect.void
        : conversions.createJob(queued.jobId, {
            status: b % 2 === 0 ? "waiting_batch" : "pending",
            options: queued.options,
            chunkPages: 2
          })
    ),
  cancel: on(
    (world) => world.jobs,
    ({ conversions }, jobId) => conversions.cancel(anyId(jobId))
  ),
  deleteFile: on(
    (world) => world.files,
    ({ conversions }, { id, owner }, b) =>
      b % 3 === 0 ? conversions.deleteFile(anyId(id), owner) : conversions.file(anyId(id), owner)
  ),
  order: ({ bulk, files: all, jobs, orders, owners }, a, b) => {
    const customerId = anyId(owners[a % 4 === 0 ? 1 : 0])
    const chosen = all.filter(({ owner }) => owner === customerId).slice(-1 - (b % 3))
    const items = chosen.map(({ id }) => ({ jobId: anyId(), fileId: anyId(id), options: {} }))
    const bulkId = anyId()
    orders.push(bulkId)
    jobs.push(...items.map(({ jobId }) => jobId))
    return items.length === 0 ? Effect.void : bulk.request({ bulkId, customerId, items, window: WINDOW })
  },
  claimMessage: ({ bulk }) => bulk.claimMessage({ lease: Duration.minutes(10), maxAttempts: 3 }),
  confirmMessage: on(
    (world) => world.orders,
    ({ bulk }, bulkId) => bulk.confirmMessage(bulkId)
  ),
  close: ({ accounts, owners }, a, b) =>
    b % 3 === 0 ? accounts.close(anyId(owners[a % 2])) : accounts.funds(anyId(owners[a % 2])),
  lists: ({ conversions, files: all, owners }) =>
    Effect.andThen(
      Effect.forEach(owners, (owner) =>
        Effect.catchTag(
          conversions.files(anyId(owner), { limit: 1000, cursor: undefined }),
          "InvalidCursor",
          Effect.die
        )
      ),
      Effect.forEach(all, ({ id, owner }) => conversions.flyersOf(anyId(id), owner))
    )
}

const chunks: Record<string, Step> = {
  claimChunk: claim(
    ({ conversions }, lease) => conversions.claimChunk("w", lease),
    (world) => world.chunks
  ),
  claimChunkAgain: on(
    (world) => world.chunks,
    ({ conversions }, { lease }) => conversions.claimChunk("w", lease)
  ),
  beatChunk: on(
    (world) => world.chunks,
    ({ conversions }, chunk, b) => conversions.heartbeatChunk(chunk, b % 3, WINDOW)
  ),
  completeChunk: on(
    (world) => world.chunks,
    ({ conversions }, chunk) =>
      conversions.completeChunk(chunk, `chunks/${chunk.lease}`, costs(chunk.jobId, chunk.lease))
  ),
  failChunk: on(
    (world) => world.chunks,
    ({ conversions }, chunk) => conversions.failChunk(chunk, failureOf(chunk.jobId, chunk.lease))
  ),
  handBackChunk: on(
    (world) => world.chunks,
    ({ conversions }, chunk) => conversions.handBackChunk(chunk, costs(chunk.jobId, chunk.lease))
  ),
  claimAssembly: claim(
    ({ conversions }, lease) => conversions.claimAssembly(lease, STALE),
    (world) => world.assemblies
  ),
  beatAssembly: on(
    (world) => world.assemblies,
    ({ conversions }, assembly, b) =>
      b % 2 === 0 ? conversions.heartbeatAssembly(assembly, WINDOW) : conversions.handBackAssembly(assembly)
  ),
  finishJob: on(
    (world) => world.assemblies,
    ({ conversions }, assembly, b) =>
      conversions.finishJob(
        assembly,
        `results/${assembly.lease}`,
        b % 3 === 0 ? { unreadablePages: [1], hasText: true } : undefined
      )
  ),
  failJob: on(
    (world) => world.jobs,
    ({ conversions }, jobId, b) => (b % 5 === 0 ? conversions.failJob(anyId(jobId), "no") : Effect.void)
  )
}

const others: Record<string, Step> = {
  claimInline: claim(
    ({ conversions }, lease) => conversions.claimInline(lease, STALE),
    (world) => world.inlines
  ),
  beatInline: on(
    (world) => world.inlines,
    ({ conversions }, inline) => conversions.heartbeatInline(inline, WINDOW)
  ),
  finishInline: on(
    (world) => world.inlines,
    ({ conversions }, inline, b) =>
      conversions.finishInline(
        inline,
        `results/${inline.lease}`,
        costs(inline.jobId, inline.lease),
        b % 2 === 0 ? { pages: 1 + (b % 4), hasText: false } : undefined
      )
  ),
  failInline: on(
    (world) => world.inlines,
    ({ conversions }, inline) => conversions.failInline(inline, failureOf(inline.jobId, inline.lease))
  ),
  requestFlyer: on(
    (world) => world.files,
    ({ conversions, flyers }, { id: fileId, owner: customerId }) => {
      const id = anyId()
      flyers.push({ id, owner: customerId })
      return conversions.requestFlyer({ id, fileId: anyId(fileId), customerId, window: WINDOW })
    }
  ),
  claimFlyer: claim(
    ({ conversions }, lease) => conversions.claimFlyer(lease, STALE),
    (world) => world.claimedFlyers
  ),
  finishFlyer: on(
    (world) => world.claimedFlyers,
    ({ conversions }, flyer, b) =>
      conversions.finishFlyer(
        flyer,
        `flyers/${flyer.lease}`,
        costs(flyer.id, flyer.lease),
        b % 3 === 0 ? [1] : []
      )
  ),
  failFlyer: on(
    (world) => world.claimedFlyers,
    ({ conversions }, flyer) => conversions.failFlyer(flyer, failureOf(flyer.id, flyer.lease))
  ),
  cancelFlyer: on(
    (world) => world.flyers,
    ({ conversions }, { id, owner }) => conversions.cancelFlyer(anyId(id), owner)
  ),
  reflow: on(
    (world) => world.flyers,
    ({ conversions, jobs }, { id: flyerId, owner: customerId }) => {
      const jobId = anyId()
      jobs.push(jobId)
      return conversions.requestReflow({
        flyerId: anyId(flyerId),
        customerId,
        jobId,
        options: {},
        window: WINDOW
      })
    }
  ),
  recover: ({ conversions }) => conversions.recoverOrphan(STALE, MAX_ATTEMPTS),
  budget: ({ conversions }, a) => conversions.applyBudget(a % 2 === 0 ? 0.05 : undefined),
  sweep: ({ conversions }) => conversions.sweep(WINDOW, Duration.minutes(30)),
  hoursPass: ({ hand }, a) => hand.pass(1 + (a % 3)),
  daysPass: ({ hand }, a) => (a % 4 === 0 ? hand.pass(50) : Effect.void),
  topUp: ({ hand, owners }, a) => hand.topUp(owners[0]!, a % 4)
}

const endOf = (id: string, jobId: JobId, b: number): BatchEnd => ({
  outcome: b % 2 === 0 ? "collected" : "failed",
  reason: "over",
  endState: "Completed",
  accepted: 2,
  fallback: 1,
  cost: b % 3 === 0 ? undefined : { ...cost(jobId, 0.02), id, source: "batch", metadata: { batch: true } }
})

const lane: Record<string, Step> = {
  claimRow: claim(
    ({ batches }, lease, b) =>
      batches.claim({
        take: b % 2 === 0 ? "open" : "parked",
        lease,
        preparer: anyId(),
        term: 1 + (b % 3),
        model: "m",
        stuckAfter: Duration.hours(2),
        window: Duration.hours(28),
        giveUpIn: Duration.hours(26)
      }),
    (world) => world.rows
  ),
  uploaded: on(
    (world) => world.rows,
    ({ batches }, row) =>
      batches.uploaded(row, {
        prefix: `p/${row.lease}`,
        records: 3,
        shards: 1,
        bytes: 9,
        model: "m2",
        price: { inputUsdPerMtok: 1, outputUsdPerMtok: 2 }
      })
  ),
  submitted: on(
    (world) => world.rows,
    ({ batches }, row) =>
      batches.submitted(row, {
        arn: `arn:${row.lease}`,
        name: "n",
        pollIn: Duration.zero,
        giveUpIn: Duration.hours(26)
      })
  ),
  polls: ({ batches }) => batches.claimPolls(Duration.minutes(5), 10),
  endRow: on(
    (world) => world.rows,
    ({ batches }, row, b) =>
      Effect.andThen(batches.beginCollect(row.id), batches.end(row.id, endOf(row.lease, row.jobId, b)))
  ),
  dropRow: on(
    (world) => world.rows,
    ({ batches }, row, b) =>
      b % 2 === 0 ? batches.drop(row, { ...endOf(row.lease, row.jobId, b), cost: undefined }) : Effect.void
  ),
  giveUp: on(
    (world) => world.rows,
    ({ batches }, row) => batches.giveUp(row.id, "late")
  ),
  release: ({ batches }) =>
    batches.releaseOverdue({
      giveUpIn: Duration.hours(26),
      stuckAfter: Duration.hours(2),
      slack: Duration.minutes(5),
      window: WINDOW
    }),
  stranded: ({ batches }) =>
    Effect.flatMap(batches.stranded, ([one]) =>
      one === undefined ? Effect.void : batches.resume(one.jobId, { _batchPrimed: true }, WINDOW)
    ),
  processNow: on(
    (world) => world.jobs,
    ({ batches }, jobId) =>
      Effect.andThen(batches.makeInteractive(anyId(jobId), WINDOW), batches.toStop(anyId(jobId)))
  ),
  orphan: on(
    (world) => world.rows,
    ({ batches }, { id }) => batches.isOrphan(id, "arn:x")
  ),
  resume: on(
    (world) => world.jobs,
    ({ hand }, jobId, b) => (b % 4 === 0 ? hand.resume(anyId(jobId)) : Effect.void)
  )
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex")

const mails: Record<string, Step> = {
  receive: ({ intake }) => {
    const id = anyId()
    return intake.receive({
      id,
      rawKey: `mails/${id}`,
      rawBytes: 1,
      envelopeFrom: "",
      peerTrusted: true,
      home: "here",
      verifiedSender: undefined,
      ended: undefined
    })
  },
  claimMail: claim(
    ({ intake }, lease, b) => intake.claim(b % 2 === 0 ? "received" : "converting", lease, STALE, "here"),
    (world) => world.mails
  ),
  beatMail: on(
    (world) => world.mails,
    ({ intake }, mail) => intake.heartbeat(mail, WINDOW)
  ),
  handBackMail: on(
    (world) => world.mails,
    ({ intake }, mail, b) => intake.handBack(mail, { after: Duration.zero, counts: b % 2 === 0 })
  ),
  deferMail: on(
    (world) => world.mails,
    ({ intake }, mail, b) =>
      intake.defer(mail, {
        after: Duration.zero,
        part: b % 2 === 0 ? "objects" : "database",
        gap: Duration.hours(2),
        limit: Duration.hours(3),
        window: WINDOW
      })
  ),
  identify: on(
    (world) => world.mails,
    ({ intake, owners }, mail, b) =>
      intake.identify(
        mail,
        {
          identity: hash(String(b % 9)),
          signatures: b % 3 === 0 ? [hash(`s${b % 6}`)] : [],
          messageId: undefined,
          sender: `${owners[b % 2]}@x.test`,
          contentSha256: hash("c"),
          subject: "s",
          references: undefined
        },
        3
      )
  ),
  admit: on(
    (world) => world.mails,
    ({ intake, owners }, mail, b) =>
      intake.admit(mail, {
        customerId: anyId(owners[b % 2]),
        filename: "a.pdf",
        fileBytes: 5,
        pages: 1 + (b % 4),
        ignored: [],
        sourceKey: `mails/${mail.lease}`,
        recipient: `${owners[b % 2]}@x.test`,
        acknowledgement: { kind: "processing-started", fileName: "a.pdf", pages: 1, ignored: [] },
        window: WINDOW
      })
  ),
  endMail: on(
    (world) => world.mails,
    ({ intake, owners }, mail, b) =>
      b % 3 === 0
        ? intake.end(mail, {
            outcome: "error",
            reason: "no",
            ...(b % 2 === 0 ? { customerId: anyId(owners[0]), filename: "b.pdf", jobError: "no" } : {}),
            reply: {
              recipient: `${owners[0]}@x.test`,
              content: { kind: "no-attachment", convertAddress: "c@x.test" },
              brake: 2,
              stranger: b % 4 === 0
            }
          })
        : Effect.void
  ),
  finishMail: on(
    (world) => world.mails,
    ({ intake, owners }, mail, b) =>
      intake.finish(mail, {
        standardPages: 1 + (b % 3),
        complexPages: b % 2,
        resultKey: `results/${mail.lease}`,
        resultBytes: 3,
        recipient: `${owners[b % 2]}@x.test`,
        reply: {
          kind: "success",
          fileName: "a.pdf",
          pages: 2,
          creditsCharged: 0,
          balance: 0,
          ignored: [],
          unreadablePages: b % 4 === 0 ? [2] : []
        },
        asLink: b % 2 === 0
      })
  ),
  claimReply: claim(
    ({ intake }, lease) => intake.claimReply(lease, Duration.minutes(5), "here"),
    (world) => world.replies
  ),
  endReply: on(
    (world) => world.replies,
    ({ intake }, reply, b) => (b % 2 === 0 ? intake.replySent(reply) : intake.replyFailed(reply, "no"))
  ),
  retryReply: on(
    (world) => world.replies,
    ({ intake }, reply, b) =>
      intake.retryReply(reply, {
        after: Duration.zero,
        error: "later",
        asLink: b % 2 === 0,
        unknown: b % 3 === 0
      })
  ),
  cleanMails: ({ intake }) =>
    Effect.flatMap(intake.toClean(10, LIVES, "here"), (all) =>
      Effect.forEach(all, ({ everything, id }) => intake.cleaned(id, everything ? "all" : "source"))
    ),
  kept: ({ intake, owners }) =>
    Effect.forEach(owners, (owner) =>
      Effect.andThen(intake.keptResults(anyId(owner), LIVES), intake.customer(`${owner}@x.test`))
    )
}

/** Everything that can happen. */
export const STEPS: Readonly<Record<string, Step>> = { ...files, ...chunks, ...others, ...lane, ...mails }

/** What a run begins with: without it, little is there to be worked on. */
export const FIRST = [
  "addFile",
  "addFile",
  "addFile",
  "request",
  "createJob",
  "request",
  "createJob",
  "request",
  "createJob",
  "receive",
  "receive",
  "claimMail",
  "identify",
  "admit",
  "claimMail",
  "receive"
].map((name, index) => [name, index, index + 1] as const)
