import { parentPort, workerData } from "node:worker_threads"

import { PdfError } from "../../reader/model/pdf-document.ts"
import { loadLibraries, limitWasmMemory } from "../../reader/sources/pdf/engine/libraries.ts"
import type { OpenDocument } from "../../reader/sources/pdf/pages/document.ts"
import { OpenDocuments } from "../../reader/sources/pdf/pages/open-documents.ts"
import type { AtHand } from "../../reader/sources/pdf/traps.ts"
import type { FromWorker, Request, Timed, ToWorker, WorkerData } from "./messages.ts"
import { OPERATIONS } from "./operations.ts"

const port = parentPort
if (port === null) throw new Error("pdf-worker.ts runs as a worker thread")
// `ReaderThread` sends just this.
const limits = workerData as WorkerData
const outOfMemory = limitWasmMemory(limits.libraryBytes)
const libraries = await loadLibraries()
const { pdfium, qpdf } = libraries
const documents = new OpenDocuments(libraries)

const bytesOf = (item: unknown): ArrayBuffer | undefined => {
  const bytes: unknown = typeof item === "object" && item !== null && "bytes" in item ? item.bytes : undefined
  return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer ? bytes.buffer : undefined
}

/** Memory of the libraries, which grows and never shrinks. */
const memoryInUse = (): number => pdfium.memory.size + qpdf.memoryBytes()

const answer = (message: FromWorker, transfer: ReadonlyArray<ArrayBuffer> = []): void => {
  const { system, user } = process.threadCpuUsage()
  const timed: Timed = { ...message, cpuMicros: system + user }
  port.postMessage(timed, [...transfer])
}

/** The document that is being read. */
let served: OpenDocument | undefined
const atHand = (): AtHand | undefined => served?.atHand

const serve = (request: Request): void => {
  const document = documents.of(request.document, request.path, request.fonts)
  document.traps = request.traps
  served = document
  const { faces } = document.fonts
  let page = request.first
  let bytes = 0
  let sent = request.fonts.length
  if (request.operation !== undefined) {
    // `Reading` sends what belongs to the operation.
    const operate = OPERATIONS[request.operation] as (
      ...of: [OpenDocument, number, number, unknown]
    ) => unknown
    const stop = Math.min(request.end, request.first + limits.batchPages)
    for (; page < stop && bytes < limits.batchBytes; page++) {
      const item = operate(document, page, request.end, request.argument)
      const buffer = bytesOf(item)
      bytes += buffer?.byteLength ?? 0
      answer({ kind: "item", item, newFonts: faces.slice(sent) }, buffer === undefined ? [] : [buffer])
      sent = faces.length
    }
  }
  answer({ kind: "done", next: page, facts: document.facts, bytes: memoryInUse() })
}

/** Errors of the file system have a `syscall`. */
const isFileError = (error: unknown): error is Error => error instanceof Error && "syscall" in error

const handle = (request: Request): void => {
  served = undefined
  try {
    serve(request)
  } catch (error) {
    if (error instanceof PdfError) answer({ kind: "failed", reason: error.reason, page: error.page })
    else if (isFileError(error)) answer({ kind: "fault", message: error.message })
    // A trap, after which the module is not to be trusted. Reported, not thrown: a thread's error can overtake its messages.
    else
      answer({
        kind: "failed",
        reason: outOfMemory() ? "bomb" : "crashed",
        page: atHand()?.page,
        atHand: atHand(),
        cause: String(error)
      })
  }
}

port.on("message", (message: ToWorker) => {
  if (message.kind === "close") documents.close(message.document)
  else handle(message.request)
})
answer({ kind: "ready" })
