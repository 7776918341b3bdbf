import { Schema } from "effect"

import type { CustomerId } from "../ids.ts"

/**
 * The rights of a principal. `admin`: every admin route; `admin:read`: those that change nothing; `owner`: its own files,
 * team and account.
 */
export const Right = Schema.Literals(["admin", "admin:read", "owner"]).annotate({ identifier: "Right" })
export type Right = typeof Right.Type

/** The rights of people who sign in as admins. */
export const AdminRight = Schema.Literals(["admin", "admin:read"])
export type AdminRight = typeof AdminRight.Type

/** The authenticated caller, by bearer token or session cookie. */
export interface Principal {
  /** The actor in audit rows: the token's name, or the customer's address. */
  readonly actor: string
  /** The customer it acts for; a bare admin token acts for none. */
  readonly customerId: CustomerId | undefined
  readonly rights: ReadonlyArray<Right>
  readonly via: "token" | "session"
}

/** Whether the rights of a principal include `right`; `admin` includes `admin:read`. */
export const may = ({ rights }: Pick<Principal, "rights">, right: Right): boolean =>
  rights.includes(right) || (right === "admin:read" && rights.includes("admin"))
