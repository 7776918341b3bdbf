import { Effect } from "effect"

import type { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { SCENARIOS } from "./documents.ts"

/** A bug in a function of the migrations: `from` becomes `to`, wherever it stands in the function. */
export interface Planted<Scene> {
  readonly about: string
  /** Where it shows: a search of all scenes takes some twenty times as long. */
  readonly scene: Scene
  readonly function: string
  readonly from: string | RegExp
  readonly to: string
}

const LOCK = / for (?:no key )?update(?: skip locked)?(?=[;\s])/g

const withoutLocks = <Scene>(scene: Scene, name: string, about: string): Planted<Scene> => ({
  about,
  scene,
  function: name,
  from: LOCK,
  to: ""
})

export const PLANTED_IN_DOCUMENTS: ReadonlyArray<Planted<keyof typeof SCENARIOS>> = [
  withoutLocks("waiting", "claim_chunk", "two workers claim one chunk"),
  withoutLocks("running", "complete_chunk", "the last two chunks each miss the other"),
  {
    about: "a chunk is completed under a lease that was taken away",
    scene: "running",
    function: "complete_chunk",
    from: "c.lease is distinct from p_lease",
    to: "false"
  },
  withoutLocks("scarce", "place_hold", "funds are set aside twice"),
  withoutLocks("asking", "request_conversion", "a file is converted twice at once"),
  withoutLocks("inline", "claim_inline", "two files of one owner are converted at once"),
  withoutLocks("received", "claim_mail", "two workers claim one mail"),
  withoutLocks("admitted", "claim_reply", "two workers claim one reply"),
  {
    about: "a mail whose signature another one carried is taken for new",
    scene: "reading",
    function: "identify_mail",
    from: "raise unique_violation;",
    to: ""
  },
  {
    about: "a batch row is closed twice",
    scene: "submitted",
    function: "end_conversion_batch_row",
    from: "(p_lease is null and state = 'submitted')",
    to: "p_lease is null"
  },
  withoutLocks("parked", "make_conversion_job_interactive", "a job goes on demand twice")
]

/** Replaces the function by the one with the bug. */
export const plant = (sql: WriteSql["Service"], { from, function: name, to }: Planted<unknown>) =>
  Effect.gen(function* () {
    const [row] = yield* sql<{ readonly text: string }>`
      select pg_get_functiondef(oid) as text from pg_proc
      where proname = ${name} and pronamespace = 'public'::regnamespace`
    const text = row?.text ?? ""
    const planted = text.replaceAll(typeof from === "string" ? from : new RegExp(from.source, "g"), to)
    if (planted === text) return yield* Effect.die(new Error(`${name} does not hold ${String(from)}`))
    yield* sql.unsafe(planted).unprepared
  }).pipe(Effect.orDie)
