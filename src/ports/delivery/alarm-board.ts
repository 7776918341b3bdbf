import { Context, type Effect } from "effect"

import type {
  AlarmChange,
  AlarmName,
  AlarmTable,
  Measures,
  NoticeKind
} from "../../domain/delivery/alarm-rules.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A notice that waits to go out. */
export interface AlarmNotice {
  readonly alarm: AlarmName
  readonly episode: number
  readonly kind: NoticeKind
  /** The figures, in words; the same at every attempt. */
  readonly detail: string
  /** When the alarm changed, milliseconds since the epoch: makes the notice's key unique. */
  readonly at: number
  /** The channels that have accepted it before. */
  readonly taken: ReadonlyArray<string>
  /** While the alarm's notice before it lacks a channel: those that have that one. */
  readonly goesTo: ReadonlyArray<string> | undefined
}

/** The state of the alarms (`email_alarms`), their measurements, and the notices that are due. */
export class AlarmBoard extends Context.Service<
  AlarmBoard,
  {
    /** The measurements of the send log; dead letters come from the retry queue. */
    readonly measure: Effect.Effect<Omit<Measures, "deadLetters">, StoreUnavailable>
    readonly read: Effect.Effect<AlarmTable, StoreUnavailable>
    /** The clock that all times of the store go by, milliseconds since the epoch. */
    readonly clock: Effect.Effect<number, StoreUnavailable>
    /** Notes how far a process's clock is off, for {@link Measures}. */
    readonly noteClock: (noted: {
      readonly process: string
      readonly differenceMs: number
    }) => Effect.Effect<void, StoreUnavailable>
    /**
     * Changes an alarm's state and stores its notice, both or neither, if the state is still the one that the change
     * expects. False where another process changed it first: of several at once one wins.
     */
    readonly change: (change: AlarmChange) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Claims the notice that has been due longest, for three minutes; only after the alarm's notice before it went out on some
     * channel. Of several callers at once, one gets each notice. `undefined` where none is due.
     */
    readonly claimNotice: Effect.Effect<AlarmNotice | undefined, StoreUnavailable>
    /** Records that a claimed notice went out. */
    readonly confirmNotice: (notice: AlarmNotice) => Effect.Effect<void, StoreUnavailable>
    /** Releases a notice that did not go out: due after a minute; from the fifth time on the delay doubles, up to an hour. */
    readonly releaseNotice: (
      notice: AlarmNotice,
      /** The channels that have it, those of before included; with any, it is tried `MAX_CHANNEL_TRIES` times in all. */
      taken?: ReadonlyArray<string>
    ) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/AlarmBoard") {}
