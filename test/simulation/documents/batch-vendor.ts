import { Clock, Effect } from "effect"

import type { BatchStatus, EndStatus } from "../../../src/domain/batch/row.ts"
import { type BatchJob, BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import type { Chance } from "../kernel.ts"
import type { Chronicle } from "../world.ts"
import { type BatchRecordLine, readWords, USAGE } from "./papers.ts"

/** How often the batch service does what nobody wants. */
export interface VendorMood {
  readonly throttles: number
  readonly refuses: number
  /** It forgets a job. */
  readonly forgets: number
  /** A job ends badly. */
  readonly endsBadly: number
  /** A job runs until it is stopped. */
  readonly hangs: number
  /** A record lacks, fails, is cut off, comes twice, or is not ours. */
  readonly spoils: number
  /** Output that appears after the job's end. */
  readonly lateOutput: number
}

/** A batch job as the service has it. */
export interface VendorJob {
  readonly arn: string
  readonly name: string
  readonly inputPrefix: string
  readonly outputPrefix: string
  readonly endsAt: number
  readonly end: EndStatus
  stoppedAt: number
  written: boolean
  forgotten: boolean
  /** Lines that it returned and that can be read. */
  returned: number
  /** Records that it processed, whatever became of their lines. */
  processed: number
}

const HOUR = 3_600_000
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The lines of a record in the output. */
const outputOf = (
  { name, page, recordId }: BatchRecordLine,
  {
    chance,
    saw,
    spoils
  }: { readonly chance: Chance; readonly saw: Chronicle["saw"]; readonly spoils: number }
): ReadonlyArray<string> => {
  const line = (id: string, stopReason: string, text: string) =>
    JSON.stringify({ recordId: id, answer: { text, stopReason } })
  const whole = line(recordId, "end_turn", `<p>${readWords({ name, page })}</p>`)
  if (!chance.bool(spoils)) return [whole]
  const how = chance.pick(["missing", "failed", "cut off", "twice", "foreign", "unreadable"])
  saw(`batch record ${how}`)
  switch (how) {
    case "missing":
      return []
    case "failed":
      return [JSON.stringify({ recordId })]
    case "cut off":
      return [line(recordId, "max_tokens", "<p>")]
    case "twice":
      return [whole, whole]
    case "foreign":
      return [whole, line("c99-p99", "end_turn", "<p>of somebody else</p>")]
    default:
      return ["{"]
  }
}

/** A batch service, which all processes share. */
export const makeVendor = (options: {
  readonly chance: Chance
  readonly chronicle: Chronicle
  readonly mood: () => VendorMood
  readonly objects: Map<string, Uint8Array>
}) => {
  const { chance, chronicle, mood, objects } = options
  const { note, saw } = chronicle
  const jobs: Array<VendorJob> = []

  /** Writes the output of a job that has ended; `share`: of its records. */
  const write = (job: VendorJob, share: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      job.written = true
      const { lateOutput, spoils } = mood()
      for (const [key, bytes] of objects) {
        if (!key.startsWith(job.inputPrefix)) continue
        const records = decoder
          .decode(bytes)
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as BatchRecordLine)
        const outputs = records
          .filter(() => chance.bool(share))
          .map((record) => outputOf(record, { chance, saw, spoils }))
        const lines = outputs.flat()
        if (chance.bool(spoils)) lines.reverse()
        job.processed += outputs.filter((output) => output.length > 0).length
        job.returned += lines.filter((line) => line !== "{").length
        const name = key.slice(key.lastIndexOf("/") + 1)
        const show = Effect.sync(() => {
          if (lines.length > 0)
            objects.set(
              `${job.outputPrefix}${name}.out`,
              encoder.encode(lines.map((line) => `${line}\n`).join(""))
            )
        })
        if (chance.bool(lateOutput)) {
          saw("batch output comes late")
          yield* Effect.forkDetach(Effect.andThen(Effect.sleep(chance.int(1_000, 400_000)), show))
        } else yield* show
      }
    })

  const shareOf = (end: EndStatus): number => {
    switch (end) {
      case "Completed":
        return 1
      case "PartiallyCompleted":
        return 0.7
      case "Failed":
        return 0
      case "Stopped":
      case "Expired":
        return 0.3
    }
  }

  const statusOf = (job: VendorJob): Effect.Effect<BatchStatus> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const end =
        job.stoppedAt <= Math.min(now, job.endsAt) ? "Stopped" : now >= job.endsAt ? job.end : undefined
      if (end === undefined) return job.stoppedAt < Infinity ? "Stopping" : "InProgress"
      if (!job.written) {
        saw(`batch job ${end}`)
        note(() => `the batch service: ${job.name} has ended ${end}`)
        yield* write(job, shareOf(end))
      }
      return end
    })

  const failure = (reason: BatchServiceError["reason"]) => new BatchServiceError({ reason, message: reason })
  const byArn = (arn: string) =>
    Effect.suspend(() => {
      const job = jobs.find((one) => one.arn === arn && !one.forgotten)
      return job === undefined ? Effect.fail(failure("missing")) : Effect.succeed(job)
    })

  const service = BatchService.of({
    create: (asked) =>
      Effect.gen(function* () {
        const { endsBadly, hangs, refuses, throttles } = mood()
        if (chance.bool(throttles)) {
          saw("batch create throttled")
          return yield* failure("unavailable")
        }
        const known = jobs.find(({ name }) => name === asked.name)
        if (known !== undefined) {
          saw("batch job was there")
          return known.arn
        }
        if (chance.bool(refuses)) {
          saw("batch create refused")
          return yield* failure("refused")
        }
        const now = yield* Clock.currentTimeMillis
        const arn = `arn:${jobs.length}`
        const limit = now + asked.timeoutHours * HOUR
        const hanging = chance.bool(hangs)
        jobs.push({
          arn,
          name: asked.name,
          inputPrefix: asked.inputPrefix,
          outputPrefix: `${asked.outputPrefix}${jobs.length}/`,
          endsAt: hanging ? limit : now + chance.int(30_000, 1_500_000),
          end: hanging
            ? "Expired"
            : chance.bool(endsBadly)
              ? chance.pick<EndStatus>(["PartiallyCompleted", "Failed", "Stopped", "Expired"])
              : "Completed",
          stoppedAt: Infinity,
          written: false,
          forgotten: false,
          returned: 0,
          processed: 0
        })
        saw("batch job created")
        return arn
      }),
    get: (arn) =>
      Effect.gen(function* () {
        const { forgets, throttles } = mood()
        if (chance.bool(throttles)) return yield* failure("unavailable")
        const job = yield* byArn(arn)
        const status = yield* statusOf(job)
        if (job.written && chance.bool(forgets)) {
          saw("batch job forgotten")
          job.forgotten = true
          return yield* failure("missing")
        }
        const { inputPrefix, name, outputPrefix, processed, written } = job
        const found: BatchJob = {
          arn,
          name,
          status,
          message: undefined,
          inputPrefix,
          outputPrefix,
          processed: written ? processed : undefined
        }
        return found
      }),
    findByName: (name) =>
      Effect.suspend(() => {
        const job = jobs.find((one) => one.name === name)
        if (job !== undefined) saw("batch job found by its name")
        return Effect.succeed(job?.arn)
      }),
    stop: (arn) =>
      Effect.gen(function* () {
        const job = yield* byArn(arn)
        const now = yield* Clock.currentTimeMillis
        if (job.stoppedAt < Infinity || now >= job.endsAt) return
        saw("batch job asked to stop")
        job.stoppedAt = now + chance.pick([1_000, 60_000, 3_600_000])
      })
  })
  return { service, jobs: jobs as ReadonlyArray<VendorJob>, usage: USAGE }
}
