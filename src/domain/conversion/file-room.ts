import { Data } from "effect"

const GIB = 1024 ** 3

/** What the files of one customer may come to, by plan. */
export const FILE_ROOM = {
  free: { files: 100, bytes: 5 * GIB },
  paid: { files: 50_000, bytes: 1024 * GIB }
} as const

/** Uploads of one customer at once, in one process. */
export const MAX_UPLOADS_AT_ONCE = 20

/** A customer has as many files as it may: one has to go first. */
export class NoRoomForFile extends Data.TaggedError("NoRoomForFile")<{}> {}
