import type { NewToken } from "../../ports/access.ts"

/** Longest name of a token, characters. */
const MAX_NAME = 200

/** What is wrong with a token to be made; `undefined`: nothing. */
export const faultOf = ({ customerId, expiresAt, name, rights }: NewToken): string | undefined => {
  if (name.trim() === "" || name.length > MAX_NAME) return `A name has 1 to ${MAX_NAME} characters`
  if (/\p{Cc}/u.test(name)) return "A name holds no control characters"
  if (rights.length === 0) return "A token needs a right"
  if (rights.includes("owner") && customerId === undefined) return "The right owner needs a customer"
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt)) return "That is no time"
  return undefined
}
