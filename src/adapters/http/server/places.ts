import { Effect, type Scope } from "effect"

/** Limits how many things one owner may hold at once: open streams, uploads. */
interface Places {
  /** Takes a place until the scope closes; false where the owner holds all of its places. */
  readonly take: (owner: string) => Effect.Effect<boolean, never, Scope.Scope>
}

export const makePlaces = (most: number): Places => {
  const held = new Map<string, number>()
  const change = (owner: string, by: number) => {
    const now = (held.get(owner) ?? 0) + by
    if (now === 0) held.delete(owner)
    else held.set(owner, now)
  }
  return {
    take: (owner) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const free = (held.get(owner) ?? 0) < most
          if (free) change(owner, 1)
          return free
        }),
        (taken) => Effect.sync(() => void (taken && change(owner, -1)))
      )
  }
}
