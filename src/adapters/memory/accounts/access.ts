import { randomUUID } from "node:crypto"

import { Clock, Context, Effect, Layer, Redacted } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { faultOf, makeSecretTokens } from "../../../application/accounts/tokens.ts"
import type { Principal, Right } from "../../../domain/accounts/principal.ts"
import {
  MAGIC_LINK_LIFETIME_SECONDS,
  presentCookie,
  SESSION_LIFETIME_SECONDS,
  type SessionCookies
} from "../../../domain/accounts/session.ts"
import { CustomerId } from "../../../domain/ids.ts"
import {
  Access,
  type AdminRow,
  Admins,
  type BegunSession,
  InvalidToken,
  MagicLinks,
  MOST_SIGN_INS,
  OtherBrowser
} from "../../../ports/accounts/access.ts"

interface StoredToken {
  readonly id: string
  readonly hash: string
  readonly name: string
  readonly rights: ReadonlyArray<Right>
  readonly customerId: CustomerId | undefined
  readonly embedded: boolean
  readonly createdAt: number
  lastUsedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** The last use is recorded to the minute. */
const USE_MS = 60_000

/** The user or customer that a session acts for. */
interface Holder {
  readonly actor: string
  readonly rights: ReadonlyArray<Right>
  readonly customerId: CustomerId | undefined
  readonly tokenId: string | undefined
  /** The admin who signed in by mail. */
  readonly adminEmail?: string | undefined
}

interface StoredSession extends Holder {
  readonly createdAt: number
  cookies: SessionCookies
}

interface StoredLink {
  readonly email: string
  readonly expiresAt: number
  /** Hash of the cookie of the browser that asked; a promotion's link has none. */
  readonly browserHash?: string | undefined
  /** Whether an admin asked for it. */
  readonly forAdmin?: boolean
  isUsed: boolean
}

/** State that several adapters can share, as processes share a database. */
export const makeAccessDatabase = () => ({
  /** Ids by address. */
  customers: new Map<string, CustomerId>(),
  tokens: new Map<string, StoredToken>(),
  sessions: new Set<StoredSession>(),
  /** By address. */
  admins: new Map<string, AdminRow>(),
  /** By hash. */
  links: new Map<string, StoredLink>()
})

/** Options of the adapter. */
interface MemoryAccessOptions {
  readonly database?: ReturnType<typeof makeAccessDatabase> | undefined
  /** Whether dev tokens are accepted. */
  readonly embedded: boolean
  /** The running promotions; `undefined`: every name is one. */
  readonly promos?: ReadonlyArray<string> | undefined
}

/** What the operations work on. */
interface Tables extends ReturnType<typeof makeAccessDatabase> {
  readonly embedded: boolean
  readonly secrets: Effect.Success<typeof makeSecretTokens>
}

const LINK_MS = MAGIC_LINK_LIFETIME_SECONDS * 1000
const HOUR_MS = 3_600_000

const principal = (
  { customerId, rights }: Pick<Principal, "customerId" | "rights">,
  actor: string,
  via: Principal["via"]
): Principal => ({ actor, customerId, rights, via })

const customerOf = ({ customers }: Tables, email: string): CustomerId => {
  const id = customers.get(email) ?? CustomerId.make(randomUUID())
  customers.set(email, id)
  return id
}

const inForce = ({ embedded }: Tables, token: StoredToken | undefined, now: number): token is StoredToken =>
  token !== undefined &&
  (token.expiresAt === undefined || token.expiresAt > now) &&
  (embedded || !token.embedded)

/** The token with this text, if it is in force; notes its use. */
const useToken = Effect.fnUntraced(function* (tables: Tables, text: string) {
  const hash = yield* tables.secrets.hash(text)
  const token = [...tables.tokens.values()].find((one) => one.hash === hash)
  const now = yield* Clock.currentTimeMillis
  if (!inForce(tables, token, now)) return undefined
  if (token.lastUsedAt === undefined || token.lastUsedAt < now - USE_MS) token.lastUsedAt = now
  return token
})

const beginSession = Effect.fnUntraced(function* (
  { secrets, sessions }: Tables,
  holder: Holder
): Effect.fn.Return<BegunSession> {
  const { hash, token } = yield* secrets.mint
  const now = yield* Clock.currentTimeMillis
  const expiresAt = now + SESSION_LIFETIME_SECONDS * 1000
  const cookies = { current: hash, rotatedAt: now, next: undefined, previous: undefined, expiresAt }
  sessions.add({ ...holder, createdAt: now, cookies })
  return { principal: principal(holder, holder.actor, "session"), cookie: token, expiresAt }
})

/** The session of a cookie, and whether `candidate` is its next one. */
const useSession = Effect.fnUntraced(function* (tables: Tables, cookie: string, candidate: string) {
  const hash = yield* tables.secrets.hash(cookie)
  if (hash === undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  for (const session of tables.sessions) {
    if (session.tokenId !== undefined && !inForce(tables, tables.tokens.get(session.tokenId), now)) continue
    const presented = presentCookie(session.cookies, hash, candidate, now)
    if (presented._tag === "Refused") continue
    session.cookies = presented.session
    return { session, renewed: presented._tag === "Renewed" }
  }
  return undefined
})

const addToken = Effect.fnUntraced(function* (
  { tokens }: Tables,
  token: Omit<StoredToken, "id" | "createdAt" | "lastUsedAt">
) {
  const id = randomUUID()
  tokens.set(id, { ...token, id, createdAt: yield* Clock.currentTimeMillis, lastUsedAt: undefined })
  return id
})

const createToken = Effect.fnUntraced(function* (
  tables: Tables,
  token: Parameters<Access["Service"]["createToken"]>[0]
) {
  const fault = faultOf(token)
  if (fault !== undefined) return yield* new InvalidToken({ message: fault })
  const { customerId, expiresAt, name, rights } = token
  if (customerId !== undefined && ![...tables.customers.values()].includes(customerId)) {
    return yield* new InvalidToken({ message: "There is no such customer" })
  }
  const minted = yield* tables.secrets.mint
  const stored = { hash: minted.hash, name, rights, customerId, embedded: false, expiresAt }
  return { id: yield* addToken(tables, stored), token: minted.token }
})

const listTokens = (tables: Tables, now: number, owner?: string) =>
  [...tables.tokens.values()]
    .filter((token) => inForce(tables, token, now) && token.customerId === (owner ?? token.customerId))
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

const keepDevToken = Effect.fnUntraced(function* (
  tables: Tables,
  { name, owner, rights, token }: Parameters<Access["Service"]["keepDevToken"]>[0]
) {
  const { secrets, tokens } = tables
  const hash = yield* secrets.hash(Redacted.value(token))
  for (const [id, other] of tokens) {
    if (other.embedded && (other.name === name || other.hash === hash)) tokens.delete(id)
  }
  const customerId = owner === undefined ? undefined : customerOf(tables, owner.email)
  if (hash === undefined || [...tokens.values()].some((other) => other.hash === hash)) return
  yield* addToken(tables, { hash, name, rights, customerId, embedded: true, expiresAt: undefined })
})

const sessionsOf = (tables: Tables, customerId: CustomerId, now: number) =>
  [...tables.sessions]
    .filter((one) => one.customerId === customerId && one.cookies.expiresAt > now)
    .filter(({ tokenId }) => tokenId === undefined || inForce(tables, tables.tokens.get(tokenId), now))
    .map(({ actor, cookies: { expiresAt }, createdAt, tokenId }) => {
      const by: "token" | "mail" = tokenId === undefined ? "mail" : "token"
      return { actor, by, createdAt, expiresAt }
    })
    .sort((a, b) => b.createdAt - a.createdAt)

const accessOf = (tables: Tables): Access["Service"] =>
  Access.of({
    byToken: (text) =>
      Effect.map(useToken(tables, text), (token) => token && principal(token, token.name, "token")),
    bySession: Effect.fnUntraced(function* (cookie) {
      const candidate = yield* tables.secrets.mint
      const used = yield* useSession(tables, cookie, candidate.hash)
      if (used === undefined) return undefined
      const { renewed, session } = used
      return {
        principal: principal(session, session.actor, "session"),
        renewed: renewed ? candidate.token : undefined,
        expiresAt: session.cookies.expiresAt
      }
    }),
    beginSession: Effect.fnUntraced(function* (text) {
      const token = yield* useToken(tables, text)
      if (token === undefined) return undefined
      const { customerId, id, name, rights } = token
      return yield* beginSession(tables, { actor: name, rights, customerId, tokenId: id })
    }),
    endSession: (cookie) =>
      Effect.map(
        useSession(tables, cookie, ""),
        (used) => used !== undefined && tables.sessions.delete(used.session)
      ),
    sessionsOf: (customerId) =>
      Effect.map(Clock.currentTimeMillis, (now) => sessionsOf(tables, customerId, now)),
    createToken: (token) => createToken(tables, token),
    listTokens: Effect.map(Clock.currentTimeMillis, (now) => listTokens(tables, now)),
    tokensOf: (owner) => Effect.map(Clock.currentTimeMillis, (now) => listTokens(tables, now, owner)),
    revokeToken: (id) => Effect.sync(() => tables.tokens.delete(id)),
    keepDevToken: (token) => keepDevToken(tables, token)
  })

const magicLinksOf = (tables: Tables, promos: ReadonlyArray<string> | undefined): MagicLinks["Service"] =>
  MagicLinks.of({
    claim: Effect.fnUntraced(function* ({ email, promo }) {
      if (promos?.includes(promo) === false) return undefined
      customerOf(tables, email)
      const { hash, token } = yield* tables.secrets.mint
      const now = yield* Clock.currentTimeMillis
      tables.links.set(hash, { email, expiresAt: now + LINK_MS, isUsed: false })
      return token
    }),
    request: ({ browser, email }) => requestLink(tables, email, browser),
    redeem: (text, browser) => redeemLink(tables, text, browser)
  })

/** `begin_sign_in`. */
const requestLink = Effect.fnUntraced(function* (tables: Tables, email: string, browser: string) {
  const browserHash = yield* tables.secrets.hash(browser)
  if (browserHash === undefined || !(tables.customers.has(email) || tables.admins.has(email)))
    return undefined
  const now = yield* Clock.currentTimeMillis
  const asked = [...tables.links.values()].filter(
    (link) => link.email === email && link.browserHash !== undefined
  )
  const known = asked.some((link) => link.isUsed && link.browserHash === browserHash)
  const recent = asked.filter(
    (link) => link.expiresAt > now + LINK_MS - HOUR_MS && (!known || link.browserHash === browserHash)
  )
  if (recent.length >= MOST_SIGN_INS) return undefined
  const { hash, token } = yield* tables.secrets.mint
  const forAdmin = tables.admins.has(email)
  tables.links.set(hash, { email, expiresAt: now + LINK_MS, browserHash, forAdmin, isUsed: false })
  return { id: randomUUID(), token }
})

/** `redeem_magic_link`. */
const redeemLink = Effect.fnUntraced(function* (tables: Tables, text: string, browser: string | undefined) {
  const hash = yield* tables.secrets.hash(text)
  const browserHash = browser === undefined ? undefined : yield* tables.secrets.hash(browser)
  const now = yield* Clock.currentTimeMillis
  const link = tables.links.get(hash ?? "")
  if (link === undefined || link.isUsed || link.expiresAt <= now) return undefined
  if (link.browserHash !== undefined && link.browserHash !== browserHash) return yield* new OtherBrowser()
  link.isUsed = true
  const { email } = link
  const admin = link.forAdmin === true ? tables.admins.get(email) : undefined
  const customerId = link.browserHash === undefined ? customerOf(tables, email) : tables.customers.get(email)
  return yield* beginSession(tables, {
    actor: email,
    rights: [...(customerId === undefined ? [] : (["owner"] as const)), ...(admin?.rights ?? [])],
    customerId,
    tokenId: undefined,
    adminEmail: admin?.email
  })
})

/** What ends with an admin, or with another right of theirs. */
const endSessionsOf = ({ sessions }: Tables, email: string) => {
  for (const session of sessions) if (session.adminEmail === email) sessions.delete(session)
}

const inviteAdmin = Effect.fnUntraced(function* (
  tables: Tables,
  { actor, email, right }: Parameters<Admins["Service"]["invite"]>[0]
) {
  const known = tables.admins.get(email)
  if (known?.rights.includes(right) === true) return "exists" as const
  const createdAt = known?.createdAt ?? (yield* Clock.currentTimeMillis)
  tables.admins.set(email, { email, rights: [right], invitedBy: known?.invitedBy ?? actor, createdAt })
  if (known === undefined) return "invited" as const
  endSessionsOf(tables, email)
  return "changed" as const
})

const adminsOf = (tables: Tables): Admins["Service"] =>
  Admins.of({
    list: Effect.sync(() => [...tables.admins.values()].sort((a, b) => (a.email < b.email ? -1 : 1))),
    invite: (admin) => inviteAdmin(tables, admin),
    remove: ({ email }) =>
      Effect.sync(() => {
        if (!tables.admins.delete(email)) return false
        endSessionsOf(tables, email)
        for (const [hash, link] of tables.links)
          if (link.email === email && link.forAdmin === true) tables.links.delete(hash)
        return true
      })
  })

/** Access that lives as long as the process, by the same rules as in Postgres. */
export const layer = (
  options: MemoryAccessOptions
): Layer.Layer<Access | Admins | MagicLinks, never, Digest | SecureRandom> =>
  Layer.effectContext(
    Effect.map(makeSecretTokens, (secrets) => {
      const { database = makeAccessDatabase(), embedded, promos } = options
      const tables: Tables = { ...database, embedded, secrets }
      return Context.make(Access, accessOf(tables)).pipe(
        Context.add(MagicLinks, magicLinksOf(tables, promos)),
        Context.add(Admins, adminsOf(tables))
      )
    })
  )
