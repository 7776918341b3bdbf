import { Clock, Effect, Layer, Redacted } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { firstMoment, isAfterStop, makeShareLinks } from "../../../domain/conversion/share-token.ts"
import type { FileId } from "../../../domain/ids.ts"
import { SharedFiles } from "../../../ports/conversion/shared-files.ts"
import type { CustomerRow, FileRow } from "../documents/rows.ts"
import { type Documents, MemoryDocuments, transaction } from "../documents/state.ts"
import { by } from "../documents/table.ts"

/** A file and its owner, neither of them gone. */
const fileAndOwner = (
  db: Documents,
  fileId: FileId
): { readonly file: FileRow; readonly owner: CustomerRow } | undefined => {
  const file = db.files.get(fileId)
  const owner = db.customers.get(file?.customerId)
  return file?.deletedAt === null && owner?.deletedAt === null ? { file, owner } : undefined
}

/** Whom results are shared with. */
const recipientsOf = (
  documents: MemoryDocuments["Service"]
): Pick<SharedFiles["Service"], "note" | "shares" | "stop"> => ({
  note: ({ expiresAt, fileId, recipients }) =>
    transaction(documents, (db) => {
      for (const email of recipients) {
        db.shares.remove(`${fileId} ${email}`)
        db.shares.insert({ fileId, email, sharedAt: db.moment(), expiresAt })
      }
    }),
  shares: ({ customerId, fileId }) =>
    transaction(documents, (db) => {
      const now = new Date(Math.floor(db.moment() / 1000)).toISOString()
      const it = fileAndOwner(db, fileId)
      if (it?.owner.id !== customerId) return []
      return db.shares
        .where((share) => share.fileId === fileId && share.expiresAt > now)
        .toSorted(
          by(
            ({ sharedAt }) => -Math.floor(sharedAt / 1000),
            ({ email }) => email
          )
        )
        .map(({ email, expiresAt: until, sharedAt }) => ({
          email,
          sharedAt: new Date(Math.floor(sharedAt / 1000)).toISOString(),
          expiresAt: until
        }))
    }),
  stop: ({ customerId, fileId }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      transaction(documents, (db) => {
        const it = fileAndOwner(db, fileId)
        if (it?.owner.id !== customerId) return false
        db.files.update(fileId, { sharesFrom: now })
        for (const { email } of db.shares.where((share) => share.fileId === fileId))
          db.shares.remove(`${fileId} ${email}`)
        return true
      })
    )
})

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
          const link = yield* links.from(fileId, yield* firstMoment(it.file.sharesFrom))
          return { fileName: it.file.name, sender: it.owner.name ?? it.owner.email, ...link }
        }),
        urlFrom: (fileId, from) => Effect.map(links.from(fileId, from.getTime()), ({ url }) => url),
        ...recipientsOf(documents),
        open: Effect.fnUntraced(function* (token) {
          const link = yield* links.read(token)
          const it = link === undefined ? undefined : yield* found(link.fileId)
          return link === undefined ||
            it === undefined ||
            it.file.resultKey === null ||
            !isAfterStop(link.madeAt, it.file.sharesFrom)
            ? undefined
            : { fileName: it.file.name, resultKey: it.file.resultKey }
        })
      })
    })
  )
