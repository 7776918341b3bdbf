import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, type Redacted } from "effect"

import * as MailTemplates from "../adapters/parse5/mail-templates.ts"
import * as PostgresMagicLinks from "../adapters/postgres/access-magic-links.ts"
import * as PostgresAccess from "../adapters/postgres/access.ts"
import * as PromoClaims from "../domain/access/promo-claims.ts"
import type { Right } from "../domain/principal.ts"
import { Access } from "../ports/access.ts"
import { CannotStart } from "./exit.ts"
import type { Settings } from "./settings.ts"

/** What the dev owner starts with (contract, "Defaults that a newcomer meets"). */
const DEV_OWNER_CREDITS = 100_000

/** Who may call, by the tables. Embedded, dev tokens are good, and every promotion runs that `promos` does not name. */
const stored = (settings: Settings) =>
  Layer.merge(
    PostgresAccess.layer({ embedded: settings.embedded }),
    PostgresMagicLinks.layer({ anyPromo: settings.embedded })
  ).pipe(Layer.provide(NodeCrypto.layer))

/** Stores the two dev tokens of an embedded run. */
const devTokens = ({ access, domains, embedded }: Settings) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      if (!embedded) return
      const { keepDevToken } = yield* Access
      const keep = (
        name: string,
        token: Redacted.Redacted | undefined,
        rights: ReadonlyArray<Right>,
        owner?: string
      ) =>
        token === undefined
          ? Effect.void
          : keepDevToken({
              name,
              token,
              rights,
              owner:
                owner === undefined
                  ? undefined
                  : { email: owner, name: "Dev Owner", credits: DEV_OWNER_CREDITS }
            })
      yield* keep("dev admin", access.adminToken, ["admin"])
      yield* keep("dev owner", access.ownerToken, ["owner"], `owner@${domains.sender}`)
    }).pipe(
      Effect.mapError(
        ({ cause }) => new CannotStart({ message: `The dev tokens cannot be stored: ${String(cause)}` })
      )
    )
  )

/** Who may call: tokens, sessions, magic links. */
export const access = (settings: Settings) => Layer.provideMerge(devTokens(settings), stored(settings))

/** Claims of promotions, whose links lead to this server's address. */
export const promoClaims = ({ http: { baseUrl } }: Settings) =>
  Layer.provide(PromoClaims.layer({ baseUrl }), MailTemplates.layer)
