import { Context, Effect, Redacted } from "effect"

import { type Access, type Admins, MagicLinks } from "../../../../src/ports/accounts/access.ts"

/** What a test does with the store beside the ports. */
export class StoreWorld extends Context.Service<
  StoreWorld,
  {
    /** Access to the same store for a process that does not run embedded. */
    readonly production: Access["Service"]
    /** Milliseconds of the epoch. */
    readonly now: Effect.Effect<number>
    /** Lets so much time go by. */
    readonly pass: (seconds: number) => Effect.Effect<void>
  }
>()("postlane/test/StoreWorld") {}

/** A secret's text. */
export const text = Redacted.value

/** A signed-in customer: its id and the cookie. */
export const signIn = Effect.fnUntraced(function* (email: string) {
  const links = yield* MagicLinks
  const link = yield* links.claim({ promo: "welcome", email })
  const session = yield* links.redeem(text(link!))
  return { customerId: session!.principal.customerId!, cookie: text(session!.cookie), session: session! }
})

/** What nobody gave out. */
export const strangers = ["", "x", "\0", "\ud800", "a".repeat(43), "a".repeat(100_000), "' or true --", "☃"]

/** The browser that asks for a link. */
export const BROWSER = "b".repeat(43)

/** What the suite runs on. */
export type Stores = Access | Admins | MagicLinks | StoreWorld

/** How a chapter of the suite writes a test. */
export type AccessTest = (title: string, body: () => Effect.Effect<void, unknown, Stores>) => void
