import { Context, Data, type Effect } from "effect"

import type {
  AlarmChange,
  AlarmName,
  AlarmTable,
  Measures,
  NoticeKind
} from "../../domain/delivery/alarm-rules.ts"

/** The alarms cannot be read or written now. */
export class AlarmBoardUnavailable extends Data.TaggedError("AlarmBoardUnavailable")<{
  readonly cause: unknown
}> {}

/** A notice that waits to go out. */
export interface AlarmNotice {
  readonly alarm: AlarmName
  readonly episode: number
  readonly kind: NoticeKind
  /** The figures, in words; the same however often the notice is tried. */
  readonly detail: string
  /** When the alarm changed, milliseconds since the epoch: makes the notice's key one of its own. */
  readonly at: number
}

/** Where the alarms stand (`email_alarms`), what they are judged by, and the notices that are still to go out. */
export class AlarmBoard extends Context.Service<
  AlarmBoard,
  {
    /** What the send log says; the retry queue is asked elsewhere. */
    readonly measure: Effect.Effect<Omit<Measures, "deadLetters">, AlarmBoardUnavailable>
    readonly read: Effect.Effect<AlarmTable, AlarmBoardUnavailable>
    /**
     * Moves an alarm and keeps its notice, both or neither, if it still stands where the change says. False where another
     * process moved it: of several at once one wins.
     */
    readonly change: (change: AlarmChange) => Effect.Effect<boolean, AlarmBoardUnavailable>
    /**
     * Claims the notice that is due for longest, for three minutes; one of an end only after the one of its beginning went
     * out. Of several callers at once each notice goes to one. `undefined` where none is due.
     */
    readonly claimNotice: Effect.Effect<AlarmNotice | undefined, AlarmBoardUnavailable>
    /** Notes that a claimed notice went out. */
    readonly confirmNotice: (notice: AlarmNotice) => Effect.Effect<void, AlarmBoardUnavailable>
    /** Gives a notice back that did not go out: due after a minute; from the fifth time on after twice the time, up to an hour. */
    readonly releaseNotice: (notice: AlarmNotice) => Effect.Effect<void, AlarmBoardUnavailable>
  }
>()("postlane/ports/AlarmBoard") {}
