import { Effect, Schema } from "effect"

import { type Principal, Right } from "../../domain/principal.ts"
import { AccessUnavailable } from "../../ports/access.ts"
import { boundedBy } from "./bounded.ts"

/** Time limit of one statement, or of one transaction. */
const TIME_LIMIT = "5 seconds"

/** A statement with its time limit; whatever fails is that access cannot be judged now. */
export const bounded = boundedBy(TIME_LIMIT, (cause) => new AccessUnavailable({ cause }))

/** Decodes the one row of an answer; `undefined` where there is none. */
export const firstRow = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (rows: ReadonlyArray<unknown>): Effect.Effect<S["Type"] | undefined, AccessUnavailable> =>
    rows.length === 0
      ? Effect.succeed(undefined)
      : Effect.mapError(decode(rows[0]), (cause) => new AccessUnavailable({ cause }))
}

/** The columns that say whom a row stands for. */
export const principalColumns = {
  actor: Schema.String,
  rights: Schema.Array(Right),
  customer_id: Schema.NullOr(Schema.String)
}

const PrincipalRow = Schema.Struct(principalColumns)

/** The principal of such a row. */
export const principalOf = (
  { actor, customer_id, rights }: typeof PrincipalRow.Type,
  via: Principal["via"]
): Principal => ({ actor, customerId: customer_id ?? undefined, rights, via })
