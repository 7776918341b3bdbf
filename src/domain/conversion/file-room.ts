import { Data } from "effect"

const GIB = 1024 ** 3

/** Limits on the files of one customer, by plan. */
export const FILE_ROOM = {
  free: { files: 100, bytes: 5 * GIB },
  paid: { files: 50_000, bytes: 1024 * GIB }
} as const

/** Concurrent uploads of one customer, in one process. */
export const MAX_UPLOADS_AT_ONCE = 20

/** A customer has reached the limit on files: one has to be deleted first. */
export class NoRoomForFile extends Data.TaggedError("NoRoomForFile")<{}> {}
