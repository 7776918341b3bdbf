import { assert, layer } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import * as Base64 from "effect/encoding/Base64"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { batchPrefix } from "../../../src/domain/batch/keys.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import {
  clean,
  isState,
  Knobs,
  laneWorld,
  MODEL,
  parked,
  settingsOf,
  tickUntil
} from "../../application/batch/world/world.ts"

const encoder = new TextEncoder()

/** A line of input as Bedrock takes it: no model, no cache points (wire format of batch inference, type `Converse`). */
const Line = Schema.fromJsonString(
  Schema.Struct({
    recordId: Schema.String,
    modelInput: Schema.Struct({
      system: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
      messages: Schema.Array(
        Schema.Struct({
          role: Schema.String,
          content: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
        })
      ),
      inferenceConfig: Schema.Struct({ maxTokens: Schema.Int })
    })
  })
)
const decodeLine = Schema.decodeUnknownSync(Line)

layer(laneWorld, { excludeTestServices: true })("what is uploaded", (it) => {
  it.effect("is a record for each page that is not blank, alone in the folder that the service reads", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const objects = yield* BatchObjects
      const { blank } = yield* Knobs
      blank.add(3)
      const { jobId } = yield* parked(5)
      yield* tickUntil(settingsOf(), isState(jobId, "submitted"))
      const [row] = yield* sql<{
        readonly prefix: string
        readonly shards: number
        readonly bytes: number
      }>`select
        input_prefix as prefix, shards, input_bytes::int as bytes from conversion_batch_jobs`
      const prefix = row?.prefix ?? "none"
      const textOf = (key: string) => Stream.mkString(Stream.decodeText(objects.get(key)))
      const keys = [...(yield* Stream.runCollect(objects.list(prefix)))].map(({ key }) => key).sort()
      assert.deepStrictEqual(
        keys,
        keys.map((_, at) => `${prefix}shard-000${at + 1}.jsonl`)
      )
      const texts = yield* Effect.forEach(keys, textOf)
      assert.deepStrictEqual(
        [row?.shards, row?.bytes],
        [keys.length, texts.reduce((sum, text) => sum + encoder.encode(text).length, 0)]
      )

      const lines = texts
        .join("")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => decodeLine(line, { onExcessProperty: "error" }))
      const ids = ["c0-p0", "c0-p1", "c1-p2", "c2-p4"]
      assert.deepStrictEqual(
        lines.map(({ recordId }) => recordId),
        ids
      )
      for (const { modelInput, recordId } of lines) {
        assert.deepStrictEqual(
          modelInput.system.map((block) => Object.keys(block)),
          [["text"]]
        )
        const document = modelInput.messages.flatMap(({ content }) =>
          content.map((block) => block["document"])
        )
        const page = Base64.encode(`words of page ${recordId.slice(-1)}`)
        assert.include(JSON.stringify(document), `"bytes":"${page}"`)
      }

      const manifest = [...(yield* Stream.runCollect(objects.list(batchPrefix(jobId))))]
        .map(({ key }) => key)
        .find((key) => key.endsWith("manifest.jsonl"))
      const entries = (yield* textOf(manifest ?? "none")).trim().split("\n")
      assert.deepStrictEqual(
        entries.map((line) => {
          const { chunkIndex, model, page, promptHash, recordId } = JSON.parse(line)
          return [recordId, `c${chunkIndex}-p${page}`, model, /^[\da-f]{64}$/.test(promptHash)]
        }),
        ids.map((id) => [id, id, MODEL, true])
      )
    })
  )
})
