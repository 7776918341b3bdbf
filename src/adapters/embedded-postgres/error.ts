import { Data, Effect } from "effect"

/**
 * The embedded PostgreSQL cannot be brought up. `message` is for a person: what is wrong, and what to do next.
 *
 * - `locked`: another Postlane uses the data folder.
 * - `version`: the data was made by another major version of PostgreSQL.
 * - `binaries`: there is no PostgreSQL for this machine, or it is not whole.
 * - `folder`: the data folder cannot be used.
 * - `start`: PostgreSQL itself refuses.
 */
export class EmbeddedPostgresError extends Data.TaggedError("EmbeddedPostgresError")<{
  readonly problem: "locked" | "version" | "binaries" | "folder" | "start"
  readonly message: string
}> {}

/** The message of a foreign exception, as one line. */
export const causeText = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Runs file work of the data folder; `doing` completes "Cannot …". */
export const fileWork = <A>(doing: string, work: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new EmbeddedPostgresError({
        problem: "folder",
        message:
          `Cannot ${doing}: ${causeText(cause)}. ` +
          `Free the disk or correct the folder's permissions, or name another folder with POSTLANE_DATA_DIR.`
      })
  })
