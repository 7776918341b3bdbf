import { randomUUID } from "node:crypto"

import { Clock, Context, Effect, Layer, Redacted } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import type { Principal, Right } from "../../../domain/accounts/principal.ts"
import {
  MAGIC_LINK_LIFETIME_SECONDS,
  presentCookie,
  SESSION_LIFETIME_SECONDS,
  type SessionCookies
} from "../../../domain/accounts/session.ts"
import { makeSecretTokens, faultOf } from "../../../domain/accounts/tokens.ts"
import { Access, type BegunSession, InvalidToken, MagicLinks } from "../../../ports/accounts/access.ts"

interface StoredToken {
  readonly id: string
  readonly hash: string
  readonly name: string
  readonly rights: ReadonlyArray<Right>
  readonly customerId: string | undefined
  readonly embedded: boolean
  readonly createdAt: number
  lastUsedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** The last use is recorded to the minute. */
const USE_MS = 60_000

interface StoredSession {
  cookies: SessionCookies
  readonly actor: string
  readonly rights: ReadonlyArray<Right>
  readonly customerId: string | undefined
  readonly tokenId: string | undefined
}

interface StoredLink {
  readonly email: string
  readonly expiresAt: number
}

/** State that several adapters can share, as processes share a database. */
export const makeAccessDatabase = () => ({
  /** Ids by address. */
  customers: new Map<string, string>(),
  tokens: new Map<string, StoredToken>(),
  sessions: new Set<StoredSession>(),
  /** By hash. */
  links: new Map<string, StoredLink>()
})

/** Options of the adapter. */
export interface MemoryAccessOptions {
  readonly database?: ReturnType<typeof makeAccessDatabase> | undefined
  /** Whether dev tokens are accepted. */
  readonly embedded: boolean
  /** The running promotions; `undefined`: every name is one. */
  readonly promos?: ReadonlyArray<string> | undefined
}

const principal = (
  { customerId, rights }: Pick<Principal, "customerId" | "rights">,
  actor: string,
  via: Principal["via"]
): Principal => ({ actor, customerId, rights, via })

/** Access that lives as long as the process, by the same rules as in Postgres. */
export const layer = (
  options: MemoryAccessOptions
): Layer.Layer<Access | MagicLinks, never, Digest | SecureRandom> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const secrets = yield* makeSecretTokens
      const { customers, links, sessions, tokens } = options.database ?? makeAccessDatabase()

      const customerOf = (email: string): string => {
        const id = customers.get(email) ?? randomUUID()
        customers.set(email, id)
        return id
      }
      const inForce = (token: StoredToken | undefined, now: number): token is StoredToken =>
        token !== undefined &&
        (token.expiresAt === undefined || token.expiresAt > now) &&
        (options.embedded || !token.embedded)
      const tokenOf = Effect.fnUntraced(function* (text: string) {
        const hash = yield* secrets.hash(text)
        const token = [...tokens.values()].find((one) => one.hash === hash)
        const now = yield* Clock.currentTimeMillis
        if (!inForce(token, now)) return undefined
        if (token.lastUsedAt === undefined || token.lastUsedAt < now - USE_MS) token.lastUsedAt = now
        return token
      })
      const begin = Effect.fnUntraced(function* (
        holder: Omit<StoredSession, "cookies">
      ): Effect.fn.Return<BegunSession> {
        const { hash, token } = yield* secrets.mint
        const now = yield* Clock.currentTimeMillis
        const expiresAt = now + SESSION_LIFETIME_SECONDS * 1000
        const cookies = { current: hash, rotatedAt: now, next: undefined, previous: undefined, expiresAt }
        sessions.add({ ...holder, cookies })
        return { principal: principal(holder, holder.actor, "session"), cookie: token, expiresAt }
      })
      const present = Effect.fnUntraced(function* (cookie: string, candidate: string) {
        const hash = yield* secrets.hash(cookie)
        if (hash === undefined) return undefined
        const now = yield* Clock.currentTimeMillis
        for (const session of sessions) {
          if (session.tokenId !== undefined && !inForce(tokens.get(session.tokenId), now)) continue
          const presented = presentCookie(session.cookies, hash, candidate, now)
          if (presented._tag === "Refused") continue
          session.cookies = presented.session
          return { session, renewed: presented._tag === "Renewed" }
        }
        return undefined
      })

      const access = Access.of({
        byToken: Effect.fnUntraced(function* (text) {
          const token = yield* tokenOf(text)
          return token === undefined ? undefined : principal(token, token.name, "token")
        }),
        bySession: Effect.fnUntraced(function* (cookie) {
          const candidate = yield* secrets.mint
          const used = yield* present(cookie, candidate.hash)
          if (used === undefined) return undefined
          const { session, renewed } = used
          return {
            principal: principal(session, session.actor, "session"),
            renewed: renewed ? candidate.token : undefined,
            expiresAt: session.cookies.expiresAt
          }
        }),
        beginSession: Effect.fnUntraced(function* (text) {
          const token = yield* tokenOf(text)
          if (token === undefined) return undefined
          const { customerId, id, name, rights } = token
          return yield* begin({ actor: name, rights, customerId, tokenId: id })
        }),
        endSession: Effect.fnUntraced(function* (cookie) {
          const used = yield* present(cookie, "")
          return used !== undefined && sessions.delete(used.session)
        }),
        createToken: Effect.fnUntraced(function* (token) {
          const fault = faultOf(token)
          if (fault !== undefined) return yield* new InvalidToken({ message: fault })
          const { customerId, expiresAt, name, rights } = token
          if (customerId !== undefined && ![...customers.values()].includes(customerId)) {
            return yield* new InvalidToken({ message: "There is no such customer" })
          }
          const minted = yield* secrets.mint
          const id = randomUUID()
          tokens.set(id, {
            id,
            hash: minted.hash,
            name,
            rights,
            customerId,
            embedded: false,
            createdAt: yield* Clock.currentTimeMillis,
            lastUsedAt: undefined,
            expiresAt
          })
          return { id, token: minted.token }
        }),
        listTokens: Effect.map(Clock.currentTimeMillis, (now) =>
          [...tokens.values()]
            .filter((token) => inForce(token, now))
            .map(({ createdAt, customerId, expiresAt, id, lastUsedAt, name, rights }) => ({
              id,
              name,
              rights,
              customerId,
              createdAt,
              lastUsedAt,
              expiresAt
            }))
            .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
        ),
        revokeToken: (id) => Effect.sync(() => tokens.delete(id)),
        keepDevToken: Effect.fnUntraced(function* ({ name, owner, rights, token }) {
          const hash = yield* secrets.hash(Redacted.value(token))
          for (const [id, other] of tokens) {
            if (other.embedded && (other.name === name || other.hash === hash)) tokens.delete(id)
          }
          const customerId = owner === undefined ? undefined : customerOf(owner.email)
          if (hash === undefined || [...tokens.values()].some((other) => other.hash === hash)) return
          const id = randomUUID()
          tokens.set(id, {
            id,
            hash,
            name,
            rights,
            customerId,
            embedded: true,
            createdAt: yield* Clock.currentTimeMillis,
            lastUsedAt: undefined,
            expiresAt: undefined
          })
        })
      })

      const magicLinks = MagicLinks.of({
        claim: Effect.fnUntraced(function* ({ email, promo }) {
          if (options.promos?.includes(promo) === false) return undefined
          customerOf(email)
          const { hash, token } = yield* secrets.mint
          const now = yield* Clock.currentTimeMillis
          links.set(hash, { email, expiresAt: now + MAGIC_LINK_LIFETIME_SECONDS * 1000 })
          return token
        }),
        redeem: Effect.fnUntraced(function* (text) {
          const hash = yield* secrets.hash(text)
          const now = yield* Clock.currentTimeMillis
          const link = links.get(hash ?? "")
          if (hash === undefined || link === undefined || link.expiresAt <= now) return undefined
          links.delete(hash)
          const { email } = link
          return yield* begin({
            actor: email,
            rights: ["owner"],
            customerId: customerOf(email),
            tokenId: undefined
          })
        })
      })
      return Context.make(Access, access).pipe(Context.add(MagicLinks, magicLinks))
    })
  )
