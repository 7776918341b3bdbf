import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Redacted, Result } from "effect"

import * as PostgresSenderTokens from "../../adapters/postgres/mail/sender-tokens.ts"
import { type NewSenderToken, readSenderToken } from "../../domain/mail/sender-token.ts"
import { type ListedSenderToken, SenderTokens } from "../../ports/mail/sender-tokens.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, Shell } from "./shell.ts"

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("sender tokens do not answer", error).pipe(
    Effect.andThen(
      Effect.fail(new CommandFailed({ message: "The tokens do not answer now. See: postlane doctor" }))
    )
  )

const onSenders = <A>(use: (tokens: SenderTokens["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  onDatabase(() =>
    SenderTokens.use(use).pipe(
      Effect.catchTag("StoreUnavailable", unavailable),
      Effect.provide(Layer.provide(PostgresSenderTokens.layer, NodeCrypto.layer))
    )
  )

/** The actor that audit rows name. */
const actor = Effect.map(Shell, ({ user }) => `cli:${user}`)

/** Makes a token of a program that sends. */
export const createSender = Effect.fnUntraced(function* (given: NewSenderToken) {
  const token = readSenderToken(given)
  if (Result.isFailure(token)) {
    const [{ message, path } = { message: "", path: "" }] = token.failure
    return yield* new CommandFailed({ message: `${path}: ${message}` })
  }
  const by = yield* actor
  const made = yield* onSenders((tokens) => tokens.create(token.success, by))
  return { id: made.id, token: Redacted.value(made.token) }
})

export const listSenders = onSenders((tokens) => tokens.list)

/** False where no sender token of this id is in force. */
export const revokeSender = (id: string) =>
  Effect.flatMap(actor, (by) => onSenders((tokens) => tokens.revoke(id, by)))

/** What a token is bound to, for people. */
export const boundTo = ({ categories, from, ratePerMinute }: ListedSenderToken): string =>
  [...categories, ...from, ...(ratePerMinute === undefined ? [] : [`${ratePerMinute}/min`])].join(" ")
