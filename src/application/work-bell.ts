import { Context, type Duration, Effect, Latch } from "effect"

/** Waits until the bell has rung since the last wait ended, `atMost` this long. */
export type WaitForBell = (atMost: Duration.Input) => Effect.Effect<void>

/** A kind of work. Each has its own bell. */
export type Kind = "conversions" | "mails" | "queue"

/** The bells of a process, one for each kind of work. */
interface WorkBellService {
  /** Wakes every idle worker of this kind. A worker that is polling right now polls once more. */
  readonly ring: (kind: Kind) => Effect.Effect<void>
  /** Makes the wait between two polls. Each fiber needs its own. */
  readonly listen: (kind: Kind) => Effect.Effect<WaitForBell>
}

const makeBell = () => {
  const latch = Latch.makeUnsafe()
  let rings = 0
  return {
    ring: Effect.suspend(() => {
      rings += 1
      return Effect.asVoid(latch.release)
    }),
    listen: Effect.sync((): WaitForBell => {
      let seen = rings
      return (atMost) =>
        Effect.suspend(() =>
          rings === seen ? Effect.timeoutOption(latch.whenOpen(Effect.void), atMost) : Effect.void
        ).pipe(Effect.andThen(Effect.sync(() => void (seen = rings))))
    })
  }
}

const make = (): WorkBellService => {
  const bells = { conversions: makeBell(), mails: makeBell(), queue: makeBell() }
  return { ring: (kind) => bells[kind].ring, listen: (kind) => bells[kind].listen }
}

/**
 * Rings when this process has moved a conversion or a mail on, so that idle workers and watchers notice at once. Only an
 * optimisation: the store is the source of truth, other processes do not receive this, and idle workers poll anyway.
 */
export const WorkBell = Context.Reference<WorkBellService>("postlane/application/WorkBell", {
  defaultValue: make
})

/** Rings for a kind of work. */
export const ringBell = (kind: Kind): Effect.Effect<void> =>
  Effect.flatMap(WorkBell, ({ ring }) => ring(kind))

/** Makes the wait between two polls for a kind of work, which the bell of this process cuts short. */
export const listenToBell = (kind: Kind): Effect.Effect<WaitForBell> =>
  Effect.flatMap(WorkBell, ({ listen }) => listen(kind))
