import { randomUUID } from "node:crypto"

import { Clock, Effect, Layer } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { makeSecretTokens } from "../../../application/accounts/tokens.ts"
import type { SenderToken } from "../../../domain/mail/sender-token.ts"
import { type ListedSenderToken, SenderTokens } from "../../../ports/mail/sender-tokens.ts"

/** The last use is recorded to the minute. */
const USE_MS = 60_000

interface StoredToken extends Omit<ListedSenderToken, "lastUsedAt"> {
  readonly hash: string
  lastUsedAt: number | undefined
}

const allowed = ({ categories, from, id, name, ratePerMinute }: SenderToken): SenderToken => ({
  id,
  name,
  categories,
  from,
  ratePerMinute
})

/** Sender tokens in memory; `onChange` gets what is written to the audit log. */
export const layer = (
  onChange: (action: string, target: string, actor: string) => void = () => undefined
): Layer.Layer<SenderTokens, never, Digest | SecureRandom> =>
  Layer.effect(
    SenderTokens,
    Effect.gen(function* () {
      const secrets = yield* makeSecretTokens
      /** In the order in which they were made. */
      const tokens = new Map<string, StoredToken>()
      return SenderTokens.of({
        use: Effect.fnUntraced(function* (text) {
          const hash = yield* secrets.hash(text)
          const found = [...tokens.values()].find((one) => one.hash === hash)
          if (found === undefined) return undefined
          const now = yield* Clock.currentTimeMillis
          if (found.lastUsedAt === undefined || found.lastUsedAt < now - USE_MS) found.lastUsedAt = now
          return allowed(found)
        }),
        create: Effect.fnUntraced(function* (token, actor) {
          const minted = yield* secrets.mint
          const id = randomUUID()
          const createdAt = yield* Clock.currentTimeMillis
          tokens.set(id, { ...token, id, hash: minted.hash, createdAt, lastUsedAt: undefined })
          onChange("sender_token_added", token.name, actor)
          return { id, token: minted.token }
        }),
        list: Effect.sync(() =>
          [...tokens.values()]
            .toReversed()
            .map((one) => ({ ...allowed(one), createdAt: one.createdAt, lastUsedAt: one.lastUsedAt }))
        ),
        revoke: (id, actor) =>
          Effect.sync(() => {
            const found = tokens.get(id)
            if (found !== undefined) onChange("sender_token_revoked", found.name, actor)
            return tokens.delete(id)
          })
      })
    })
  )
