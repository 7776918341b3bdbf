import { type Verdict, verdictsOf } from "./verdict.ts"

/** The oldest PostgreSQL that the migrations run on, as `server_version_num` counts. */
const OLDEST = 150_000

/** A clock skew that confuses times in the log; at twelve times as much, signatures begin to be refused. */
const NOTABLE_SKEW_MS = 5_000
const BAD_SKEW_MS = 60_000

/** The facts about the database. */
export type DatabaseFacts =
  | { readonly _tag: "Unreachable"; readonly why: string }
  | {
      readonly _tag: "Reached"
      /** `server_version_num`: 150004 is 15.4. */
      readonly version: number
      readonly migrations:
        /** Files to apply, functions that are not as in the files, and what a newer version applied. */
        | {
            readonly _tag: "Pending"
            readonly names: ReadonlyArray<string>
            readonly functions: ReadonlyArray<string>
            readonly newer: ReadonlyArray<string>
          }
        /** A file was changed or is missing, a session is not as the functions need it, or they could not be compared; `remedy` where the comparison knows it. */
        | { readonly _tag: "Broken"; readonly why: string; readonly remedy: string | undefined }
      /** Why it does not take what a send writes. */
      readonly unwritable: string | undefined
      /** Mails of convert-by-email that have been due for 15 minutes, and that no process works on. */
      readonly waitingMails: number
      /** Mails of the send queue that have been due for minutes while nothing of it was sent, a thousand of a category at most. */
      readonly unsentMails: number
      /** The database's clock minus this machine's, milliseconds. */
      readonly skewMs: number
      /** How far off {@link skewMs} may be. */
      readonly uncertaintyMs: number
      /** Queues of deferred mails in this database, and how many messages of each are due and unclaimed. */
      readonly waiting: ReadonlyArray<{ readonly queue: string; readonly due: number }>
    }

const { fail, ok, warn } = verdictsOf("database")

const versionText = (version: number) => `${Math.floor(version / 10_000)}.${version % 10_000}`

/** Why a server of this `server_version_num` cannot be used; undefined where it can. */
export const whyTooOld = (version: number): string | undefined =>
  version >= OLDEST
    ? undefined
    : `PostgreSQL ${versionText(version)} is too old: the migrations need ${Math.floor(OLDEST / 10_000)} or later`

const migrationsVerdict = (
  migrations: Extract<DatabaseFacts, { _tag: "Reached" }>["migrations"]
): Verdict => {
  if (migrations._tag === "Broken") {
    return fail({
      what: "the database does not fit this version",
      why: migrations.why,
      do: migrations.remedy ?? "use the version of Postlane that migrated this database, or a newer one"
    })
  }
  const { functions, names, newer } = migrations
  const remedy = "postlane migrate (in a checkout: npm run migrate)"
  if (newer.length > 0)
    return ok(`a newer version migrated this database (${newer.join(", ")}), and this one works on it`)
  if (names.length > 0)
    return fail({
      what: `${names.length} ${names.length === 1 ? "migration is" : "migrations are"} missing`,
      why: `not applied: ${names.join(", ")}`,
      do: remedy
    })
  if (functions.length > 0)
    return fail({
      what: `${functions.length} ${functions.length === 1 ? "function is" : "functions are"} not as in this version`,
      why: `not applied: ${functions.join(", ")}`,
      do: remedy
    })
  return ok("all migrations and functions are applied, unchanged")
}

/** Verdict on messages that no consumer takes: none runs, or the setting named this queue once. */
const waitingVerdict = ({ due, queue }: { readonly queue: string; readonly due: number }): Verdict =>
  fail({
    what: `${due} deferred ${due === 1 ? "mail is" : "mails are"} due in the queue postgres:${queue}, and no consumer takes ${due === 1 ? "it" : "them"}`,
    why: "no process with the role retry works on this queue",
    do: `start one with EMAIL_DEFER_QUEUE_URL=postgres:${queue} until the queue is empty`
  })

const clockVerdict = (skewMs: number, uncertaintyMs: number): Verdict => {
  const sure = Math.max(0, Math.abs(skewMs) - Math.max(0, uncertaintyMs))
  if (sure <= NOTABLE_SKEW_MS) return ok("this machine's clock agrees with the database's")
  const complaint = {
    what: `this machine's clock is ${Math.round(sure / 1000)} s ${skewMs > 0 ? "behind" : "ahead of"} the database's`,
    why: "webhook signatures and signed requests are refused where a clock is minutes off",
    do: "let NTP set the clock of this machine and of the database's"
  }
  return sure >= BAD_SKEW_MS ? fail(complaint) : warn(complaint)
}

const mailsVerdict = (waiting: number): ReadonlyArray<Verdict> =>
  waiting === 0
    ? []
    : [
        warn({
          what: `${waiting} mails to the convert address wait, and no process works on them`,
          why: "a mail is worked on only where its object store is: by the Email Worker, or by processes with the role intake and its CONVERT_EMAIL_BUCKET",
          do: "see that the worker's cron trigger runs, and that a process with the role intake has the bucket in which they are"
        })
      ]

const unwritableVerdict = (why: string | undefined): ReadonlyArray<Verdict> =>
  why === undefined
    ? []
    : [
        fail({
          what: "the database does not take what a send writes",
          why,
          do: "let DB_URL name the primary, or make room; until then mail goes out without suppression check, claim and row"
        })
      ]

const unsentVerdict = (unsent: number): ReadonlyArray<Verdict> =>
  unsent === 0
    ? []
    : [
        fail({
          what: `${unsent} ${unsent === 1 ? "mail of the send queue is" : "mails of the send queue are"} due, and no process sends ${unsent === 1 ? "it" : "them"}`,
          why: "the send queue is worked off by processes with the role send; none has taken a mail for minutes",
          do: "start postlane serve on this database with all roles, or with send among POSTLANE_ROLES"
        })
      ]

/** The verdicts on the database: reachable, new enough, migrated, its clock in step with ours. */
export const databaseVerdicts = (facts: DatabaseFacts): ReadonlyArray<Verdict> => {
  if (facts._tag === "Unreachable") {
    return [
      fail({
        what: "the database cannot be reached",
        why: facts.why,
        do: "see that it runs and that DB_URL and DB_SECRET_KEY are right; until then mail goes out without log and suppression check"
      })
    ]
  }
  const version = versionText(facts.version)
  return [
    whyTooOld(facts.version) === undefined
      ? ok(`PostgreSQL ${version} answers`)
      : fail({
          what: `PostgreSQL ${version} is too old`,
          why: "the migrations need 15 or later",
          do: "upgrade it"
        }),
    migrationsVerdict(facts.migrations),
    ...unwritableVerdict(facts.unwritable),
    clockVerdict(facts.skewMs, facts.uncertaintyMs),
    ...facts.waiting.map(waitingVerdict),
    ...unsentVerdict(facts.unsentMails),
    ...mailsVerdict(facts.waitingMails)
  ]
}
