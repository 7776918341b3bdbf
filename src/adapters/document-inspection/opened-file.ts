import { open } from "node:fs/promises"

import { Effect } from "effect"

/** A file with random access. A disk error is a defect: it says nothing about the document. */
export interface OpenedFile {
  readonly path: string
  readonly size: number
  /** Fewer bytes than asked for where the file ends. */
  readonly at: (position: number, length: number) => Effect.Effect<Buffer>
}

/** Opens a file until the scope closes. */
export const openFile = Effect.fnUntraced(function* (path: string) {
  const handle = yield* Effect.acquireRelease(
    Effect.promise(() => open(path, "r")),
    (one) => Effect.promise(() => one.close())
  )
  const { size } = yield* Effect.promise(() => handle.stat())
  const file: OpenedFile = {
    path,
    size,
    at: (position, length) =>
      Effect.promise(async () => {
        const room = Math.max(0, Math.min(length, size - position))
        if (room === 0) return Buffer.alloc(0)
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(room), 0, room, position)
        return buffer.subarray(0, bytesRead)
      })
  }
  return file
})
