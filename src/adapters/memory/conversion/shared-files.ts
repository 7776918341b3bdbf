import { Clock, Effect, Layer, Redacted } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { firstMoment, isAfterStop, makeShareLinks } from "../../../application/conversion/share-token.ts"
import type { FileId } from "../../../domain/ids.ts"
import { SharedFiles } from "../../../ports/conversion/shared-files.ts"
import type { CustomerRow, FileRow, ShareRow } from "../documents/rows.ts"
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

/** Shares without an expired link, newest first. */
const liveShares = (db: Documents, which: (share: ShareRow) => boolean): ReadonlyArray<ShareRow> => {
  const now = new Date(Math.floor(db.moment() / 1000)).toISOString()
  return db.shares
    .where((share) => which(share) && share.expiresAt > now)
    .toSorted(
      by(
        ({ sharedAt }) => -Math.floor(sharedAt / 1000),
        ({ email }) => email
      )
    )
}

const shownShare = ({ email, expiresAt, sharedAt }: ShareRow) => ({
  email,
  sharedAt: new Date(Math.floor(sharedAt / 1000)).toISOString(),
  expiresAt
})

type LinkOfShare = (fileId: FileId, shareId: string, until: string) => Effect.Effect<string>

/** Recipients of shared results. */
const recipientsOf = (
  documents: MemoryDocuments["Service"],
  links: { readonly ofShare: LinkOfShare }
): Pick<SharedFiles["Service"], "note" | "shares" | "allShares" | "stop" | "revoke"> => ({
  note: Effect.fnUntraced(function* ({ expiresAt, fileId, recipients }) {
    const noted = yield* transaction(documents, (db) =>
      recipients.map((email) => {
        const key = `${fileId} ${email}`
        const id = db.shares.get(key)?.id ?? db.newId()
        db.shares.remove(key)
        db.shares.insert({ id, fileId, email, sharedAt: db.moment(), expiresAt })
        return { id, email }
      })
    )
    return yield* Effect.forEach(noted, ({ email, id }) =>
      Effect.map(links.ofShare(fileId, id, expiresAt), (url) => ({ email, url }))
    )
  }),
  revoke: ({ customerId, email, fileId }) =>
    transaction(documents, (db) => {
      const key = `${fileId} ${email}`
      const isOurs = fileAndOwner(db, fileId)?.owner.id === customerId && db.shares.get(key) !== undefined
      if (isOurs) db.shares.remove(key)
      return isOurs
    }),
  shares: ({ customerId, fileId }) =>
    transaction(documents, (db) =>
      fileAndOwner(db, fileId)?.owner.id === customerId
        ? liveShares(db, (share) => share.fileId === fileId).map(shownShare)
        : []
    ),
  allShares: (customerId, limit) =>
    transaction(documents, (db) =>
      liveShares(db, (share) => fileAndOwner(db, share.fileId)?.owner.id === customerId)
        .slice(0, limit)
        .map((share) => ({
          ...shownShare(share),
          fileId: share.fileId,
          fileName: fileAndOwner(db, share.fileId)?.file.name ?? ""
        }))
    ),
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
      const isShare = (fileId: FileId, id: string) =>
        transaction(documents, (db) =>
          db.shares.where((share) => share.fileId === fileId).some((share) => share.id === id)
        )
      const found = (fileId: FileId) => transaction(documents, (db) => fileAndOwner(db, fileId))

      return SharedFiles.of({
        link: Effect.fnUntraced(function* ({ customerId, fileId }) {
          const it = yield* found(fileId)
          if (it?.owner.id !== customerId) return undefined
          const link = yield* links.from(fileId, yield* firstMoment(it.file.sharesFrom))
          return { fileName: it.file.name, sender: it.owner.name ?? it.owner.email, ...link }
        }),
        urlFrom: (fileId, from) => Effect.map(links.from(fileId, from.getTime()), ({ url }) => url),
        ...recipientsOf(documents, links),
        open: Effect.fnUntraced(function* (token) {
          const link = yield* links.read(token)
          const it = link === undefined ? undefined : yield* found(link.fileId)
          if (link?.shareId !== undefined && !(yield* isShare(link.fileId, link.shareId))) return undefined
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
