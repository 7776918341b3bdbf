import { type Effect, Semaphore } from "effect"

/** Requests are taken ahead while the places are expected to be free for them within this time, milliseconds. */
const AHEAD_MS = 50

/** None is taken ahead of requests that last longer, milliseconds: those that began together end together, and what is taken ahead waits as long. */
const SOON_MS = 500

/** The places at providers of one sender. */
export interface Places {
  /** Runs a request to a provider once a place is free. */
  readonly use: <A, E>(request: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** A provider has accepted a mail; its request lasted so long. */
  readonly noteAccepted: (now: number, lasted: number) => void
  /**
   * How many requests may be taken beyond the free places: as many as were accepted in the last {@link AHEAD_MS}, so that they wait about as
   * long. None while a provider is silent or refuses.
   */
  readonly ahead: (now: number) => number
}

/** So many requests at providers at once. Times are of the monotonic clock, milliseconds. */
export const makePlaces = (count: number): Places => {
  const semaphore = Semaphore.makeUnsafe(count)
  /** When the last ones were accepted. */
  const accepted: Array<number> = []
  return {
    use: (request) => semaphore.withPermit(request),
    noteAccepted: (now, lasted) => {
      if (lasted > SOON_MS) return
      accepted.push(now)
      if (accepted.length > count) accepted.shift()
    },
    ahead: (now) => accepted.reduce((sum, at) => (now - at <= AHEAD_MS ? sum + 1 : sum), 0)
  }
}
