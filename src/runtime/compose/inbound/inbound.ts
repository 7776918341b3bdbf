import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import { makeDiskObjects } from "../../../adapters/disk/object-store.ts"
import * as PipelineAnswers from "../../../adapters/http/routes/inbound/pipeline-answer.ts"
import * as MailTemplates from "../../../adapters/mail-templates/mail-templates.ts"
import { layerInProcess } from "../../../adapters/postal-mime/process-mail-reader.ts"
import * as IncomingMails from "../../../adapters/postgres/inbound/incoming-mails.ts"
import * as PostgresIntake from "../../../adapters/postgres/inbound/intake-store.ts"
import * as ReaderProcess from "../../../adapters/reader-process/reader-process.ts"
import * as ReadPages from "../../../application/conversion/work/read-pages.ts"
import * as ConvertByEmail from "../../../application/inbound/convert-by-email.ts"
import * as InProcessPipeline from "../../../application/inbound/in-process-pipeline.ts"
import type { AuthenticityRules } from "../../../domain/inbound/sender-authenticity.ts"
import { FileObjects, MailObjects } from "../../../ports/object-store.ts"
import type { InboundSettings } from "../../settings/settings.ts"
import { mailHome } from "../objects.ts"
import { intakeConfig, replyChannel } from "./inbound-parts.ts"

/** The pipeline in this process, on the store of mails in progress. */
const pipeline = InProcessPipeline.layer.pipe(
  Layer.provide(
    // A fresh layer: the one for files reads from another store.
    Layer.fresh(ReadPages.layer).pipe(Layer.provide(Layer.effect(FileObjects, MailObjects)))
  )
)

/** A folder that is made when something is stored, and goes with the process: what is in it lives as long as a request. */
const folder = Effect.acquireRelease(
  Effect.sync(() => join(tmpdir(), `postlane-pipeline-${randomUUID()}`)),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The pipeline for callers outside of this process, with a separate folder. */
export const pipelineAnswers = PipelineAnswers.layer.pipe(
  Layer.provide(Layer.fresh(pipeline)),
  Layer.provide(Layer.effect(MailObjects, Effect.map(folder, makeDiskObjects)))
)

/** Hops with trusted verdicts on senders. */
export const authenticityRules = ({ embedded, intake }: InboundSettings): AuthenticityRules => ({
  trustedHops: intake.trustedHops.map((hop) => hop.toLowerCase()),
  trustsLoopback: embedded && intake.trustedHops.length === 0,
  hopSecret: intake.hopSecret
})

/** Convert-by-email, its replies, its pages, and the pipeline's answers. */
export const inbound = (settings: InboundSettings) =>
  Layer.mergeAll(convertByEmail(settings), pipelineAnswers, IncomingMails.layer)

const convertByEmail = (settings: InboundSettings) =>
  ConvertByEmail.layer.pipe(
    Layer.provideMerge(replyChannel(settings)),
    Layer.provide([
      pipeline,
      intakeConfig(settings, authenticityRules(settings)),
      PostgresIntake.layer,
      Layer.provide(layerInProcess(), ReaderProcess.layer),
      MailTemplates.layer,
      Mac.layerWebCrypto,
      Layer.provide(mailHome(settings), NodeCrypto.layer),
      NodeCrypto.layer
    ])
  )
