import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import type { FileKind } from "../../../../../src/domain/conversion/file.ts"
import type { WorkId, LeaseId } from "../../../../../src/domain/ids.ts"
import type { StoreUnavailable } from "../../../../../src/ports/store-unavailable.ts"
import { STALE, WINDOW } from "../../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../../support/any-id.ts"
import { costUnder, type World } from "./world.ts"

/** One thing that a user, a worker, the leader or time does; `a` and `b` choose among what there is. */
export type Step = (world: World, a: number, b: number) => Effect.Effect<unknown, StoreUnavailable | SqlError>

const MAX_ATTEMPTS = 3
const CHUNK_PAGES = 2
const KINDS: ReadonlyArray<FileKind> = ["pdf", "pdf", "pdf", "png"]

/** One of the newest few, or nothing. */
const pick = <A>(those: ReadonlyArray<A>, n: number): A | undefined =>
  those.length === 0 ? undefined : those[those.length - 1 - (n % Math.min(those.length, 5))]

const did = (world: World, what: string) => world.counts.set(what, (world.counts.get(what) ?? 0) + 1)

/** Runs a step on what it was given, if anything. */
const on =
  <A, B>(
    those: (world: World) => ReadonlyArray<A>,
    step: (world: World, chosen: A, b: number) => Effect.Effect<B, StoreUnavailable | SqlError>
  ): Step =>
  (world, a, b) => {
    const chosen = pick(those(world), a)
    return chosen === undefined ? Effect.void : step(world, chosen, b)
  }

const files = (world: World) => world.files
const jobs = (world: World) => world.jobs
const flyers = (world: World) => world.flyers
const chunks = (world: World) => world.chunks
const assemblies = (world: World) => world.assemblies
const inlines = (world: World) => world.inlines
const claimedFlyers = (world: World) => world.claimedFlyers

/** A claim belongs to the worker that asked for it. */
const claim =
  <A>(
    what: string,
    ask: (world: World, lease: LeaseId) => Effect.Effect<A | undefined, StoreUnavailable>,
    into: (world: World) => Array<A>
  ): Step =>
  (world) =>
    Effect.map(ask(world, anyId()), (claimed) => {
      if (claimed === undefined) return
      did(world, what)
      into(world).push(claimed)
    })

/** What was answered `completed` is charged, once, but for a free reflow. */
const finished = (world: World, jobId: WorkId, answer: string) => {
  did(world, `finish: ${answer}`)
  if (answer !== "completed") return
  const job = world.jobs.find(({ id }) => id === jobId) ?? world.flyers.find(({ id }) => id === jobId)
  if (job === undefined) world.violations.push(`F2 ${jobId} was finished and never asked for`)
  else if (!("comped" in job && job.comped)) world.charged.set(jobId, job.pages)
}

/** Everything that can happen. */
export const STEPS = {
  addFile: (world, a, b) => {
    const id = anyId()
    const owner = world.owners[a % 4 === 0 ? 1 : 0]
    const kind = KINDS[b % KINDS.length] ?? "pdf"
    const pages = kind === "pdf" ? 1 + (b % 5) : 1
    return Effect.tap(
      world.store.addFile({
        id,
        customerId: anyId(owner),
        name: "f",
        kind,
        sizeBytes: 1,
        pages,
        objectKey: `files/${id}`
      }),
      () => Effect.sync(() => world.files.push({ id, owner, pages, kind }))
    ).pipe(Effect.catchTag("NoRoomForFile", Effect.die))
  },
  request: on(files, (world, file, b) => {
    const id = anyId()
    const job = { id, pages: file.pages, comped: false }
    // Known before it is asked for: another fiber may finish it before the answer is here.
    world.jobs.push(job)
    return Effect.map(
      world.store.request({
        jobId: id,
        fileId: anyId(file.id),
        customerId: anyId(file.owner),
        options: { highFidelity: b % 2 === 0 },
        window: WINDOW
      }),
      (answer) => did(world, `request: ${answer}`)
    )
  }),
  createJob: (world, _, b) =>
    Effect.flatMap(world.store.nextQueued, (queued) =>
      queued === undefined
        ? Effect.void
        : world.store.createJob(queued.jobId, {
            status: b % 4 === 0 ? "waiting_batch" : "pending",
            options: queued.options,
            chunkPages: CHUNK_PAGES
          })
    ),
  /** The batch lane is done with the oldest parked job. */
  resume: ({ sql }) => sql`select resume_batch_conversion_job(n.id) from next_unclaimed_batch_job() n`,
  claimChunk: claim("claim chunk", ({ store }, lease) => store.claimChunk("w", lease), chunks),
  beat: on(chunks, (world, chunk, b) =>
    Effect.map(world.store.heartbeatChunk(chunk, b % 3, WINDOW), (alive) => did(world, `beat: ${alive}`))
  ),
  complete: on(chunks, (world, chunk) => {
    const key = `chunks/${chunk.lease}`
    return Effect.map(
      world.store.completeChunk(chunk, key, costUnder(world, chunk.lease, chunk.jobId)),
      (answer) => {
        did(world, `complete: ${answer}`)
        if (answer === "stale") return
        const before = world.results.get(chunk.id) ?? key
        if (before !== key) world.violations.push(`C2 chunk ${chunk.id} was completed under two leases`)
        world.results.set(chunk.id, key)
      }
    )
  }),
  fail: on(chunks, (world, chunk, b) =>
    Effect.map(
      world.store.failChunk(chunk, {
        error: "no",
        costs: costUnder(world, chunk.lease, chunk.jobId),
        retryIn: Duration.zero,
        maxAttempts: b % 2 === 0 ? 1 : MAX_ATTEMPTS
      }),
      (answer) => did(world, `fail: ${answer}`)
    )
  ),
  handBack: on(chunks, (world, chunk) =>
    Effect.map(world.store.handBackChunk(chunk, costUnder(world, chunk.lease, chunk.jobId)), (ours) =>
      did(world, `hand back: ${ours}`)
    )
  ),
  bookLate: on(chunks, (world, chunk) => world.store.bookCosts(costUnder(world, chunk.lease, chunk.jobId))),
  goStale: ({ sql }, a) => {
    if (a % 3 === 0) {
      return sql`update large_conversion_jobs set heartbeat_at = heartbeat_at - interval '1 hour'
        where id in (select id from large_conversion_jobs where status = 'assembling' for no key update skip locked)`
    }
    if (a % 3 === 1) {
      return sql`update chunk_jobs set heartbeat_at = heartbeat_at - interval '1 hour'
        where id in (select id from chunk_jobs where status = 'processing' for no key update skip locked)`
    }
    return Effect.andThen(
      sql`update files set heartbeat_at = heartbeat_at - interval '1 hour'
        where id in (select id from files where status = 'processing' for no key update skip locked)`,
      sql`update flyer_jobs set heartbeat_at = heartbeat_at - interval '1 hour'
        where id in (select id from flyer_jobs where status = 'processing' for no key update skip locked)`
    )
  },
  recover: (world) =>
    Effect.map(world.store.recoverOrphan(STALE, MAX_ATTEMPTS), (count) => did(world, `recover: ${count}`)),
  claimAssembly: claim("claim assembly", ({ store }, lease) => store.claimAssembly(lease, STALE), assemblies),
  beatAssembly: on(assemblies, ({ store }, assembly) => store.heartbeatAssembly(assembly, WINDOW)),
  handBackAssembly: on(assemblies, ({ store }, assembly) => store.handBackAssembly(assembly)),
  finish: on(assemblies, (world, assembly) =>
    Effect.map(world.store.finishJob(assembly, `results/${assembly.lease}`), (answer) =>
      finished(world, assembly.jobId, answer)
    )
  ),
  failAssembly: on(assemblies, ({ store }, assembly, b) =>
    b % 4 === 0 ? store.failJob(assembly.jobId, "no", assembly.lease) : Effect.void
  ),
  cancel: on(jobs, (world, job) =>
    Effect.map(world.store.cancel(anyId(job.id)), (answer) => did(world, `cancel: ${answer}`))
  ),
  deleteFile: on(files, (world, file, b) =>
    b % 3 === 0
      ? Effect.map(world.store.deleteFile(anyId(file.id), anyId(file.owner)), (answer) =>
          did(world, `delete: ${answer}`)
        )
      : Effect.void
  ),
  claimInline: claim("claim inline", ({ store }, lease) => store.claimInline(lease, STALE), inlines),
  finishInline: on(inlines, (world, inline) =>
    Effect.map(
      world.store.finishInline(
        inline,
        `results/${inline.lease}`,
        costUnder(world, inline.lease, inline.jobId)
      ),
      (answer) => finished(world, inline.jobId, answer)
    )
  ),
  failInline: on(inlines, ({ store }, inline) =>
    store.failInline(inline, { error: "no", costs: [], maxAttempts: MAX_ATTEMPTS })
  ),
  requestFlyer: on(files, (world, file) => {
    const id = anyId()
    world.flyers.push({ id, owner: file.owner, pages: file.pages })
    return world.store.requestFlyer({
      id,
      fileId: anyId(file.id),
      customerId: anyId(file.owner),
      window: WINDOW
    })
  }),
  claimFlyer: claim("claim flyer", ({ store }, lease) => store.claimFlyer(lease, STALE), claimedFlyers),
  finishFlyer: on(claimedFlyers, (world, flyer) =>
    Effect.map(
      world.store.finishFlyer(flyer, `flyers/${flyer.lease}`, costUnder(world, flyer.lease, flyer.id)),
      (answer) => finished(world, flyer.id, answer)
    )
  ),
  failFlyer: on(claimedFlyers, ({ store }, flyer) =>
    store.failFlyer(flyer, { error: "no", costs: [], maxAttempts: MAX_ATTEMPTS })
  ),
  reflow: on(flyers, (world, flyer) => {
    const id = anyId()
    world.jobs.push({ id, pages: flyer.pages, comped: true })
    return Effect.map(
      world.store.requestReflow({
        flyerId: anyId(flyer.id),
        customerId: anyId(flyer.owner),
        jobId: id,
        options: {},
        window: WINDOW
      }),
      (answer) => did(world, `reflow: ${answer}`)
    )
  }),
  budget: (world, a) =>
    Effect.map(world.store.applyBudget(a % 2 === 0 ? 0 : undefined), (count) =>
      did(world, count === 0 ? "budget: nothing" : "budget: moved")
    ),
  expireHolds: ({ sql }, a) =>
    sql`update funds_holds set expires_at = clock_timestamp() - interval '1 second'
      where id in (select id from funds_holds where state = 'held' order by created_at offset ${a % 3} limit 1
        for no key update skip locked)`,
  sweep: ({ store }) => store.sweep(WINDOW, Duration.zero),
  topUp: (world, a) => {
    const credits = a % 6
    return Effect.map(
      world.sql`update customers set credits_remaining = credits_remaining + ${credits}
        where id = ${world.owners[0]}::uuid`,
      () => {
        world.granted += credits
      }
    )
  }
} satisfies Record<string, Step>

export type StepName = keyof typeof STEPS

export const STEP_NAMES = Object.keys(STEPS).filter((name): name is StepName => name in STEPS)
