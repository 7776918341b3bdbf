/**
 * All processes on one database must work with one object store (DOC-6): a file that one of them takes in is converted by any.
 * A store is named by a small object in it, written once; the database keeps the name of the store that came first.
 */

/** Most bytes of the object that holds an identity; ours has 36. */
export const MAX_IDENTITY_BYTES = 100

const IDENTITY = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** The identity that these bytes are; undefined where they have not its shape, as those of a part of one. */
export const identityIn = (bytes: Uint8Array): string | undefined => {
  const text = new TextDecoder().decode(bytes).trim()
  return IDENTITY.test(text) ? text : undefined
}

/** The object stores that an installation shares among its processes. */
export type StoreName = "files" | "batch"

/** The object store that the database knows. */
export interface KnownStore {
  /** The content of the store's own identity object. */
  readonly identity: string
  /** The bucket, with its endpoint; undefined for a folder, which has the same path on every machine. */
  readonly place: string | undefined
}

/** A store and where it is. */
export interface StorePlace {
  readonly name: StoreName
  /** Where it is, for people. */
  readonly shown: string
  /** The bucket, with its endpoint; undefined for a folder. */
  readonly place: string | undefined
}

/**
 * A store compared with the one that the database knows. `new`: the database knows none. `expired`: the known bucket has lost
 * its identity object, to a rule that expires objects. `lost`: it has lost its files, too. `empty`: a folder, or another bucket,
 * without an identity.
 */
export type StoreState = "same" | "new" | "expired" | "lost" | "empty" | "another"

/** Results of the comparison with which this process must not use the store. */
type Foreign = Extract<StoreState, "lost" | "empty" | "another">

const FOREIGN: ReadonlySet<StoreState> = new Set<Foreign>(["lost", "empty", "another"])

export const isForeign = (state: StoreState): state is Foreign => FOREIGN.has(state)

export const storeStateOf = (
  stored: string | undefined,
  place: string | undefined,
  known: KnownStore | undefined
): StoreState => {
  if (known === undefined) return "new"
  if (stored !== undefined) return stored === known.identity ? "same" : "another"
  return place !== undefined && place === known.place ? "expired" : "empty"
}

/** The settings that say which store a process has. */
const SETTINGS: Readonly<Record<StoreName, string>> = {
  files: "FILES_BUCKET (a folder of POSTLANE_DATA_DIR where it is unset)",
  batch: "BATCH_CONVERSION_S3_BUCKET (in workers, too, and while the lane is off)"
}

const WHAT: Readonly<Record<Foreign, string>> = {
  lost: "has lost the files that the database names",
  empty: "is empty, and the database knows another",
  another: "is not the one that the database knows"
}

/** What a store that is not the known one means, and what to do. */
export const complaintAbout = ({ name, place, shown }: StorePlace, state: Foreign) => ({
  what: `the object store of ${name} (${shown}) ${WHAT[state]}`,
  why:
    state === "lost"
      ? "the bucket was emptied or replaced: its identity and a recent file are missing"
      : "files that other processes took in are missing here",
  do:
    state === "lost"
      ? `bring its objects back from the backup; or, where those files are given up, run: npx postlane objects adopt ${name}`
      : `${place === undefined ? "mount the volume that was there before, or " : ""}set ${SETTINGS[name]} as in the other processes; or, where this store replaces the other, run: npx postlane objects adopt ${name}`
})
