import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"

import type { FileWatch } from "../../../src/application/conversion/file-watch.ts"
import { untilEnded } from "../../../src/application/conversion/until-ended.ts"
import type { ProgressMoment } from "../../../src/domain/conversion/progress.ts"
import { storedFile } from "../../domain/conversion/stored-file.ts"
import { anyId } from "../../support/any-id.ts"

const converting = storedFile({ id: anyId("a"), status: "chunked_processing", jobId: anyId("j") })
const inline = storedFile({ id: anyId("b"), status: "processing", jobId: anyId("k") })

describe("waiting for the end of conversions (DOC-45)", () => {
  it.effect("answers when the last has ended, or when the time is over, and watches no longer", () =>
    Effect.gen(function* () {
      const ends = yield* Queue.unbounded<ProgressMoment>()
      let watching = 0
      const watch: FileWatch["Service"]["watch"] = () =>
        Stream.fromQueue(ends).pipe(
          Stream.take(1),
          Stream.onStart(Effect.sync(() => void (watching += 1))),
          Stream.ensuring(Effect.sync(() => void (watching -= 1)))
        )
      const waiting = () =>
        Effect.forkChild(untilEnded({ watch }, [converting, inline, storedFile()], Duration.seconds(30)))
      const moment = { event: "completed" } as unknown as ProgressMoment

      const early = yield* waiting()
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(watching, 2, "what is not under way is not waited for")
      yield* Queue.offer(ends, moment)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(watching, 1)
      yield* Queue.offer(ends, moment)
      yield* Fiber.join(early)

      const late = yield* waiting()
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(watching, 2)
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(late)
      assert.strictEqual(watching, 0)
      yield* untilEnded({ watch }, [storedFile()], Duration.seconds(30))
    })
  )
})
