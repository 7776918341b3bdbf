import { existsSync, statSync } from "node:fs"
import { appendFile, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { boundLog, logEnd, whyEnded } from "../../../src/adapters/embedded-postgres/server-log.ts"
import { temporaryFolder } from "./harness.ts"

const TEN_MEGABYTES = 10 * 1024 * 1024

const newLog = (text: string | Uint8Array) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const log = join(folder, "postgres.log")
    yield* Effect.promise(() => writeFile(log, text))
    return { folder, log }
  })

describe("the server's log", () => {
  it.effect("is emptied at ten megabytes, its old text kept once", () =>
    Effect.gen(function* () {
      const { log } = yield* newLog(Buffer.alloc(TEN_MEGABYTES - 1, "x"))
      yield* boundLog(log)
      assert.isFalse(existsSync(`${log}.1`))
      yield* Effect.promise(() => appendFile(log, "x"))
      yield* boundLog(log)
      assert.deepStrictEqual([statSync(log).size, statSync(`${log}.1`).size], [0, TEN_MEGABYTES])
    }).pipe(Effect.scoped)
  )

  it.effect("is emptied also where its old text cannot be kept", () =>
    Effect.gen(function* () {
      const { log } = yield* newLog(Buffer.alloc(TEN_MEGABYTES, "x"))
      yield* Effect.promise(() => mkdir(`${log}.1`))
      yield* Effect.ignore(boundLog(log))
      assert.strictEqual(statSync(log).size, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("tells why a server ended: its panic, else its last complaint, of this start only", () =>
    Effect.gen(function* () {
      const { folder, log } = yield* newLog("2026-11-21 06:00:00 UTC [1] FATAL:  an old story\n")
      const from = yield* logEnd(log)
      const why = whyEnded("it ended with code 1", folder, log, from)
      assert.strictEqual(yield* why, "it ended with code 1")
      const add = (line: string) => Effect.promise(() => appendFile(log, `${line}\n`))
      yield* add("2026-11-21 06:00:01 UTC [2] LOG:  starting")
      assert.strictEqual(yield* why, "it ended with code 1")
      yield* add("postgres: error while loading shared libraries: libz.so.1")
      assert.include(yield* why, "; postgres: error while loading shared libraries: libz.so.1")
      yield* add("2026-11-21 06:00:01 UTC [2] PANIC:  no space left")
      yield* add("2026-11-21 06:00:01 UTC [2] FATAL:  terminating")
      assert.strictEqual(yield* why, "it ended with code 1; no space left")
    }).pipe(Effect.scoped)
  )
})
