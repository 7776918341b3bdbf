import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"

import { makeBedrockVision } from "../adapters/bedrock/vision-model.ts"
import { layerDocx } from "../adapters/docx/docx-converter.ts"
import * as Eld from "../adapters/eld/language-detector.ts"
import * as Html from "../adapters/html/html-assembly.ts"
import * as Inspector from "../adapters/inspector/inspector.ts"
import * as LocalModel from "../adapters/local-model/vision-model.ts"
import { layerPdf } from "../adapters/pdf/pdf.ts"
import * as PostgresConversion from "../adapters/postgres/conversion/conversion-store.ts"
import * as ReaderProcess from "../adapters/reader-process/reader-process.ts"
import type { CredentialSource } from "../adapters/ses/credentials.ts"
import { Conversions } from "../domain/conversion/conversions.ts"
import { FileWatch } from "../domain/conversion/file-watch.ts"
import { pacedModel } from "../domain/conversion/paced-model.ts"
import * as ReadPages from "../domain/conversion/read-pages.ts"
import { Uploads } from "../domain/conversion/uploads.ts"
import { VisionModel } from "../ports/vision-model.ts"
import { batchLane } from "./batch-layers.ts"
import { usesLocalModel } from "./local-model.ts"
import { objects } from "./object-layers.ts"
import type { Settings } from "./settings.ts"

/** The hi-fi model, paced. */
const model = (settings: Settings, credentials: CredentialSource) => {
  if (usesLocalModel(settings)) return LocalModel.layer
  return Layer.effect(
    VisionModel,
    Effect.flatMap(
      makeBedrockVision({
        region: settings.cloud.region,
        endpoint: settings.cloud.bedrockRuntimeEndpoint,
        credentials
      }),
      pacedModel
    )
  )
}

/** What conversions are made with, on a database; the batch lane among it. */
export const conversion = (settings: Settings, credentials: CredentialSource) =>
  Layer.provideMerge(batchLane(settings, credentials), core(settings, credentials))

const core = (settings: Settings, credentials: CredentialSource) =>
  Layer.mergeAll(Uploads.layer, Conversions.layer, FileWatch.layer).pipe(
    Layer.provide(Inspector.layer),
    Layer.provideMerge(ReadPages.layer),
    Layer.provideMerge(model(settings, credentials)),
    Layer.provideMerge(
      Layer.mergeAll(
        layerPdf(),
        objects(settings, credentials),
        PostgresConversion.layer,
        Layer.provide(layerDocx(), ReaderProcess.layer),
        Layer.provideMerge(Html.layer, Eld.layer)
      )
    ),
    Layer.provide(NodeCrypto.layer)
  )
