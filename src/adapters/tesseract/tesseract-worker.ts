import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"

import { Engine } from "../../reader/sources/ocr/engine.ts"
import { mayShowPrint } from "../../reader/sources/ocr/picture.ts"
import type { Answer, Request, WorkerData } from "./messages.ts"

const port = parentPort
if (port === null) throw new Error("tesseract-worker.ts runs as a worker thread")
// `RecognitionThread` sends just this.
const { languages, libraryBytes } = workerData as WorkerData

/** Lower than that of all other threads: pages with text go first. */
const PRIORITY = 10
// There the call means this thread alone; elsewhere it would mean the whole process.
if (process.platform === "linux") setPriority(PRIORITY)

const WASM_PAGE_BYTES = 65_536

/**
 * From now on no WebAssembly memory of this thread grows beyond `limit` bytes; a module that asks for more fails. Returns how large
 * the largest has grown. Only for a thread that does nothing else.
 */
const limitWasmMemory = (limit: number): (() => number) => {
  const grow = Reflect.get(WebAssembly.Memory.prototype, "grow")
  let most = 0
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number): number {
    const bytes = this.buffer.byteLength + pages * WASM_PAGE_BYTES
    if (bytes > limit) throw new RangeError("no more memory for this module")
    const before = grow.call(this, pages)
    most = Math.max(most, bytes)
    return before
  }
  return () => most
}

const memoryBytes = limitWasmMemory(libraryBytes)
let engine: Engine | undefined

const answer = async ({ hints, picture }: Request): Promise<Answer> => {
  try {
    if (!mayShowPrint(picture)) {
      const { height, width } = picture
      return { kind: "read", text: { turn: 0, skew: 0, width, height, lines: [] }, bytes: memoryBytes() }
    }
    engine ??= await Engine.load(languages)
    return { kind: "read", text: engine.read(picture, hints), bytes: memoryBytes() }
  } catch (error) {
    return { kind: "crashed", cause: String(error) }
  }
}

port.on("message", (request: Request) => {
  void answer(request).then((message) => port.postMessage(message))
})
