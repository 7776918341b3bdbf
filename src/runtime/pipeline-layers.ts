import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect, Layer } from "effect"

import { makeDiskObjects } from "../adapters/disk/object-store.ts"
import * as PipelineAnswers from "../adapters/http/pipeline-answer.ts"
import * as ReadPages from "../domain/conversion/read-pages.ts"
import * as InProcessPipeline from "../domain/intake/in-process-pipeline.ts"
import { FileObjects, MailObjects } from "../ports/object-store.ts"

/** The pipeline in this process, on the store of mails under way. */
export const pipeline = InProcessPipeline.layer.pipe(
  Layer.provide(
    // A layer of its own: the files' one reads from another store.
    Layer.fresh(ReadPages.layer).pipe(Layer.provide(Layer.effect(FileObjects, MailObjects)))
  )
)

/** A folder that is made when something is stored, and goes with the process: what is in it lives as long as a request. */
const folder = Effect.acquireRelease(
  Effect.sync(() => join(tmpdir(), `postlane-pipeline-${randomUUID()}`)),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The pipeline for callers that are not in this process, on a folder of its own. */
export const pipelineAnswers = PipelineAnswers.layer.pipe(
  Layer.provide(Layer.fresh(pipeline)),
  Layer.provide(Layer.effect(MailObjects, Effect.map(folder, makeDiskObjects)))
)
