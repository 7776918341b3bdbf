import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Exit, Layer, Logger, Scope } from "effect"

import * as Html from "../../adapters/html/html-assembly.ts"
import { makePipelineFetch } from "../../adapters/http/routes/inbound/pipeline-fetch.ts"
import * as LocalModel from "../../adapters/local-model/vision-model.ts"
import { layerPdf } from "../../adapters/pdf/pdf.ts"
import { layerTesseract } from "../../adapters/tesseract/recognition.ts"
import { pipelineAnswers } from "../compose/inbound/inbound.ts"
import { lineLogger, type LogSink } from "../process/log-lines.ts"

/** A pipeline that runs in this process. */
export interface OpenPipeline {
  /** Answers the requests of the edge's mail worker. It knows no caller: mount it where only yours can reach it. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends its threads and removes what it stored. */
  readonly close: () => Promise<void>
}

/** It logs to the output, as the server does. */
const sink: LogSink = { write: (line) => process.stdout.write(line) }

/** Scans of a mail that are read: what a thread reads within the time limit of the edge's mail worker, 12 minutes. */
const MAX_SCANS = 80

/**
 * Starts the conversion pipeline of convert-by-email as a plain fetch handler, for a container or a separate process behind a
 * service binding. It needs Node (PDFs are read in threads), and neither a database nor a network: a mail is converted by the
 * layout tier. `ocr`: whether scans are recognised (`auto`, the default) or stay pictures.
 */
export const openPipeline = async (
  options: { readonly threads?: number; readonly ocr?: "auto" | "off" } = {}
): Promise<OpenPipeline> => {
  const scope = Scope.makeUnsafe()
  const loggers = new Set([lineLogger(sink, (text) => text)])
  const layer = pipelineAnswers.pipe(
    Layer.provide([Html.layer, LocalModel.layer]),
    Layer.provide([
      layerPdf(options),
      options.ocr === "off" ? Layer.empty : layerTesseract({ maxPages: MAX_SCANS })
    ]),
    Layer.provide(NodeCrypto.layer)
  )
  const context = await Effect.runPromise(
    Layer.buildWithScope(layer, scope).pipe(Effect.provideService(Logger.CurrentLoggers, loggers))
  )
  return {
    fetch: makePipelineFetch(context),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
