import { Clock, Context, Effect, Layer } from "effect"

import {
  type AlarmChange,
  type AlarmName,
  type AlarmState,
  alarmTable,
  type Measures,
  QUIET
} from "../../../domain/delivery/alarm-rules.ts"
import { MAX_CHANNEL_TRIES } from "../../../domain/delivery/alert-policy.ts"
import { ReportingProvider } from "../../../domain/mail/provider.ts"
import { AlarmBoard, type AlarmNotice } from "../../../ports/delivery/alarm-board.ts"

/** Lease of a claimed notice, milliseconds. */
const LEASE_MS = 180_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

interface Waiting {
  readonly notice: Omit<AlarmNotice, "taken" | "goesTo">
  readonly taken: ReadonlyArray<string>
  /** Null once it has gone out. */
  readonly dueAt: number | null
  readonly attempts: number
}

const sameState = (a: AlarmState, b: AlarmState): boolean =>
  a.firing === b.firing && a.episode === b.episode && a.calmSince === b.calmSince

type Named = Pick<AlarmNotice, "alarm" | "episode" | "kind">

const sameNotice = (a: Named, b: Named): boolean =>
  a.alarm === b.alarm && a.episode === b.episode && a.kind === b.kind

/** The measures that {@link makeAlarmBoard} reads; tests set them. */
export class MemoryMeasures extends Context.Service<
  MemoryMeasures,
  { now: Omit<Measures, "deadLetters" | "at"> }
>()("postlane/adapters/memory/MemoryMeasures") {}

/** Alarms in memory on Effect's `Clock`; several "processes" can share them. */
export const makeAlarmBoard = (measures: MemoryMeasures["Service"]): AlarmBoard["Service"] => {
  const states = new Map<AlarmName, AlarmState>()
  let waiting: ReadonlyArray<Waiting> = []
  const stateOf = (name: AlarmName): AlarmState => states.get(name) ?? QUIET
  const update = (notice: Named, f: (known: Waiting) => Waiting) => {
    waiting = waiting.map((known) =>
      sameNotice(known.notice, notice) && known.dueAt !== null ? f(known) : known
    )
  }
  /** Which channels a notice goes to, by the alarm's notice before it: undefined for all. */
  const goesToOf = (notice: Named): ReadonlyArray<string> | undefined =>
    waiting
      .slice(
        0,
        waiting.findIndex((known) => sameNotice(known.notice, notice))
      )
      .findLast((known) => known.notice.alarm === notice.alarm && known.dueAt !== null)?.taken

  const change = ({ detail, from, name, notice: kind, to }: AlarmChange, at: number): boolean => {
    if (!sameState(stateOf(name), from)) return false
    states.set(name, to)
    if (kind !== undefined) {
      const notice = { alarm: name, episode: to.episode, kind, detail, at }
      waiting = [...waiting, { notice, taken: [], dueAt: at, attempts: 0 }]
    }
    return true
  }

  return AlarmBoard.of({
    measure: Effect.map(Clock.currentTimeMillis, (at) => ({ at, ...measures.now })),
    read: Effect.sync(() => alarmTable(stateOf)),
    clock: Clock.currentTimeMillis,
    noteClock: ({ differenceMs }) =>
      Effect.sync(() => {
        const { clocks } = measures.now
        const processOffMs = Math.max(clocks.processOffMs, Math.abs(differenceMs))
        measures.now = { ...measures.now, clocks: { ...clocks, processOffMs } }
      }),
    change: (asked) => Effect.map(Clock.currentTimeMillis, (at) => change(asked, at)),
    claimNotice: Effect.map(Clock.currentTimeMillis, (now) => {
      const [due] = waiting
        .flatMap(({ dueAt, notice, taken }) => {
          const goesTo = goesToOf(notice)
          if (dueAt === null || dueAt > now || goesTo?.length === 0) return []
          return [{ dueAt, notice: { ...notice, taken, goesTo } }]
        })
        .sort((a, b) => a.dueAt - b.dueAt)
      if (due === undefined) return undefined
      update(due.notice, (known) => ({ ...known, dueAt: now + LEASE_MS, attempts: known.attempts + 1 }))
      return due.notice
    }),
    confirmNotice: (notice) => Effect.sync(() => update(notice, (known) => ({ ...known, dueAt: null }))),
    releaseNotice: (notice, taken = []) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        update(notice, (known) => ({
          ...known,
          taken,
          dueAt:
            taken.length > 0 && known.attempts >= MAX_CHANNEL_TRIES
              ? null
              : now + Math.min(MINUTE_MS * 2 ** Math.max(known.attempts - 4, 0), HOUR_MS)
        }))
      )
  })
}

/** Nothing has happened. */
export const NOTHING: MemoryMeasures["Service"]["now"] = {
  failovers: 0,
  providerB: { sends: 0, bounced: 0, complained: 0 },
  accepted: { byFallback: 0, byPrimary: 0 },
  unsettled: { deferred: 0, failed: 0 },
  unclaimed: 0,
  overdue: 0,
  clocks: { processOffMs: 0, databaseBackMs: 0 },
  silent: Object.fromEntries(ReportingProvider.literals.map((provider) => [provider, 0])) as Record<
    ReportingProvider,
    number
  >,
  unanswered: 0,
  documents: {
    failed: 0,
    waitingMinutes: 0,
    batch: { pages: 0, fallback: 0 },
    mails: { ended: 0, unverified: 0 },
    mailWaitingMinutes: 0
  },
  hooks: { off: 0, pending: 0, dead: 0, oldestSeconds: 0 },
  queue: { oldestDueMs: 0, setAside: 0, givenUp: 0 }
}

/** The alarms of one process, and their measures. */
export const layer: Layer.Layer<AlarmBoard | MemoryMeasures> = Layer.effectContext(
  Effect.sync(() => {
    const measures = { now: NOTHING }
    return Context.make(MemoryMeasures, measures).pipe(Context.add(AlarmBoard, makeAlarmBoard(measures)))
  })
)
