import { Context, type Duration, Effect, Latch } from "effect"

/** Sleeps until the bell has rung since the sleeper last woke, `most` at the longest. */
export type Rest = (most: Duration.Input) => Effect.Effect<void>

/** What is worked on. */
export type Kind = "conversions" | "mails"

/** The bell of a process. */
interface WorkBellService {
  /** Wakes all who rest from this kind of work. Who is looking at the store just now looks once more. */
  readonly ring: (kind: Kind) => Effect.Effect<void>
  /** How a fiber rests between its looks. Each has its own. */
  readonly listen: (kind: Kind) => Effect.Effect<Rest>
}

const makeDoor = () => {
  const door = Latch.makeUnsafe()
  let rings = 0
  return {
    ring: Effect.suspend(() => {
      rings += 1
      return Effect.asVoid(door.release)
    }),
    listen: Effect.sync((): Rest => {
      let heard = rings
      return (most) =>
        Effect.suspend(() =>
          rings === heard ? Effect.timeoutOption(door.whenOpen(Effect.void), most) : Effect.void
        ).pipe(Effect.andThen(Effect.sync(() => void (heard = rings))))
    })
  }
}

const make = (): WorkBellService => {
  const doors = { conversions: makeDoor(), mails: makeDoor() }
  return { ring: (kind) => doors[kind].ring, listen: (kind) => doors[kind].listen }
}

/**
 * Rings when this process has moved a conversion or a mail on, so that nobody sleeps while there is something to do or to show. It
 * only saves time: what is to be done is in the store, other processes do not hear it, and who rests looks again after a while
 * anyway.
 */
export const WorkBell = Context.Reference<WorkBellService>("postlane/application/WorkBell", {
  defaultValue: make
})

/** Rings for a kind of work. */
export const ringBell = (kind: Kind): Effect.Effect<void> =>
  Effect.flatMap(WorkBell, ({ ring }) => ring(kind))

/** For fibers that look for a kind of work: a way to rest that the bell of this process wakes. */
export const listenToBell = (kind: Kind): Effect.Effect<Rest> =>
  Effect.flatMap(WorkBell, ({ listen }) => listen(kind))
