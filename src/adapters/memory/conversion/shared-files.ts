import { Clock, Effect, Layer, Redacted } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { makeShareLinks } from "../../../domain/conversion/share-token.ts"
import type { FileId } from "../../../domain/ids.ts"
import { SharedFiles } from "../../../ports/conversion/shared-files.ts"
import type { CustomerRow, FileRow } from "../documents/rows.ts"
import { type Documents, MemoryDocuments, transaction } from "../documents/state.ts"

/** A file and its owner, neither of them gone. */
const fileAndOwner = (
  db: Documents,
  fileId: FileId
): { readonly file: FileRow; readonly owner: CustomerRow } | undefined => {
  const file = db.files.get(fileId)
  const owner = db.customers.get(file?.customerId)
  return file?.deletedAt === null && owner?.deletedAt === null ? { file, owner } : undefined
}

/** Links to results in memory. */
export const layer = (options: {
  /** Without a trailing slash. */
  readonly baseUrl: string
}): Layer.Layer<SharedFiles, never, MemoryDocuments | Mac.Mac> =>
  Layer.effect(
    SharedFiles,
    Effect.gen(function* () {
      const documents = yield* MemoryDocuments
      const links = yield* makeShareLinks({
        ...options,
        key: Effect.succeed(Redacted.make(documents.linkKey))
      })
      const found = (fileId: FileId) => transaction(documents, (db) => fileAndOwner(db, fileId))

      return SharedFiles.of({
        link: Effect.fnUntraced(function* ({ customerId, fileId }) {
          const it = yield* found(fileId)
          if (it?.owner.id !== customerId) return undefined
          const link = yield* links.from(fileId, yield* Clock.currentTimeMillis)
          return { fileName: it.file.name, sender: it.owner.name ?? it.owner.email, ...link }
        }),
        urlFrom: (fileId, from) => Effect.map(links.from(fileId, from.getTime()), ({ url }) => url),
        open: Effect.fnUntraced(function* (token) {
          const fileId = yield* links.fileOf(token)
          const it = fileId === undefined ? undefined : yield* found(fileId)
          return it === undefined || it.file.resultKey === null
            ? undefined
            : { fileName: it.file.name, resultKey: it.file.resultKey }
        })
      })
    })
  )
