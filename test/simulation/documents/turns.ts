import { Effect } from "effect"

import type { ChunkRow } from "../../../src/adapters/memory/documents/rows.ts"
import { type Documents, micros } from "../../../src/adapters/memory/documents/state.ts"
import type { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import type { IntakeStore } from "../../../src/ports/inbound/intake-store.ts"

type Conversions = ConversionStore["Service"]
type Intake = IntakeStore["Service"]

/** Kinds of work that begin a conversion, by the call that claims them. */
const KINDS = ["claimInline", "claimChunk", "claimFlyer"] as const
type Kind = (typeof KINDS)[number]

const isKind = (operation: string): operation is Kind => KINDS.some((kind) => kind === operation)

/**
 * Pieces of work of other kinds that the two loops of a worker may begin while one kind waits: of each other kind one a loop.
 */
const MOST_OF_OTHER_KINDS = 4

/** Notes at each claim who waits meanwhile, by what the documents say of turns (DOC-12, H3). */
export const makeTurns = (db: Documents, violations: Array<string>) => {
  const wrong = (text: string) => {
    if (!violations.includes(text)) violations.push(text)
  }
  /** By kind and the owner who waits: how often each other owner was served meanwhile. */
  const passed = new Map<string, Map<string, number>>()
  /** By process and kind: how much of other kinds it has begun while this one waited. */
  const passedKinds = new Map<string, number>()

  /** An owner gets work of a kind while others have such work waiting. */
  const served = (kind: "chunk" | "flyer" | "mail", owner: string, waiting: ReadonlySet<string>): void => {
    for (const other of ["rich", "poor", "free"]) {
      const key = `${kind} ${other}`
      if (other === owner || !waiting.has(other)) {
        passed.delete(key)
        continue
      }
      const before = passed.get(key) ?? new Map<string, number>()
      const times = (before.get(owner) ?? 0) + 1
      passed.set(key, before.set(owner, times))
      if (times > 1) wrong(`DOC-12: a ${kind} waited while another owner was served ${times} times`)
    }
  }

  const isDue = ({ jobId, notBefore, status }: ChunkRow, primed: boolean): boolean => {
    const job = db.jobs.get(jobId)
    return (
      status === "pending" &&
      notBefore <= db.moment() &&
      (job?.status === "pending" || job?.status === "processing") &&
      (primed || job.options._batchPrimed !== true)
    )
  }
  const ownersOf = (fileIds: ReadonlyArray<string | undefined>): ReadonlySet<string> =>
    new Set(fileIds.flatMap((fileId) => db.files.get(fileId)?.customerId ?? []))
  const chunksWait = (primed: boolean) =>
    ownersOf(db.chunks.where((chunk) => isDue(chunk, primed)).map(({ jobId }) => db.jobs.get(jobId)?.fileId))
  const flyersWait = () =>
    ownersOf(db.flyers.where(({ status }) => status === "pending").map(({ fileId }) => fileId))
  const isThere: Readonly<Record<Kind, (primed: boolean) => boolean>> = {
    // An owner has one such file in work at a time.
    claimInline: () => {
      const files = db.files.where(({ deletedAt, status }) => status === "processing" && deletedAt === null)
      const busy = new Set(files.flatMap(({ customerId, lease }) => (lease === null ? [] : customerId)))
      return files.some(({ customerId }) => !busy.has(customerId))
    },
    claimChunk: (primed) => db.chunks.find((chunk) => isDue(chunk, primed)) !== undefined,
    claimFlyer: () => flyersWait().size > 0
  }

  return {
    /** A worker's claim was answered; `undefined`: with nothing. */
    kindAnswered: (process: string, operation: string, answer: unknown, primed: boolean): void => {
      if (!isKind(operation)) return
      const isServed = answer !== undefined
      if (isServed || !isThere[operation](primed)) passedKinds.delete(`${process} ${operation}`)
      for (const other of KINDS) {
        if (!isServed || other === operation || !isThere[other](primed)) continue
        const times = (passedKinds.get(`${process} ${other}`) ?? 0) + 1
        passedKinds.set(`${process} ${other}`, times)
        if (times > MOST_OF_OTHER_KINDS)
          wrong(`H3: work of one kind waited while a worker began ${times} pieces of the others`)
      }
    },
    /** A claim got no answer: its kind has had its turn. */
    kindLost: (process: string, operation: string): void => {
      passedKinds.delete(`${process} ${operation}`)
    },

    ofConversions: (store: Conversions): Conversions => ({
      ...store,
      claimChunk: (worker, lease, perOwner, primed = true) =>
        Effect.suspend(() => {
          const isRepeated = db.chunks.find((chunk) => chunk.lease === lease) !== undefined
          const waiting = chunksWait(primed)
          return Effect.tap(store.claimChunk(worker, lease, perOwner, primed), (chunk) =>
            Effect.sync(() => {
              if (chunk !== undefined && !isRepeated)
                served("chunk", db.files.get(chunk.fileId)?.customerId ?? "", waiting)
            })
          )
        }),
      claimFlyer: (lease, stale, perOwner) =>
        Effect.suspend(() => {
          const waiting = flyersWait()
          const pending = new Set(db.flyers.where(({ status }) => status === "pending").map(({ id }) => id))
          return Effect.tap(store.claimFlyer(lease, stale, perOwner), (flyer) =>
            Effect.sync(() => {
              // One whose worker went silent comes before all that wait.
              if (flyer !== undefined && pending.has(flyer.id))
                served("flyer", db.files.get(flyer.fileId)?.customerId ?? "", waiting)
            })
          )
        })
    }),

    ofMails: (store: Intake): Intake => ({
      ...store,
      claim: (step, lease, stale, home, only) =>
        Effect.suspend(() => {
          const converting = db.mails.where((mail) => mail.step === "converting")
          const silent = db.moment() - micros(stale)
          const isFree = (mail: (typeof converting)[number]) =>
            mail.lease === null || (mail.heartbeatAt ?? 0) < silent
          const busy = new Set(converting.filter((mail) => !isFree(mail)).map((mail) => mail.customerId))
          const isRepeated = converting.some((mail) => mail.lease === lease)
          const waiting = new Set<string>(
            converting.flatMap((mail) =>
              isFree(mail) &&
              mail.notBefore <= db.moment() &&
              (mail.pages ?? 0) <= (only?.mostPages ?? Infinity) &&
              mail.customerId !== null &&
              !busy.has(mail.customerId)
                ? [mail.customerId]
                : []
            )
          )
          return Effect.tap(store.claim(step, lease, stale, home, only), (mail) =>
            Effect.sync(() => {
              if (step === "converting" && mail?.job !== undefined && !isRepeated)
                served("mail", mail.job.customerId, waiting)
            })
          )
        })
    })
  }
}
