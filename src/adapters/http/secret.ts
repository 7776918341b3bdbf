import { hash, timingSafeEqual } from "node:crypto"

import { Redacted } from "effect"

/** Whether a caller presented the secret. */
export type SecretCheck = (presented: string | undefined) => boolean

/** Header values arrive as one character a byte; the secret may be written in UTF-8. */
const digestOf = (value: string, encoding: "latin1" | "utf8"): Buffer =>
  hash("sha256", Buffer.from(value, encoding), "buffer")

/**
 * Makes a check that takes the same time whatever is presented: both sides are hashed, then compared in constant time.
 * An unset or empty secret refuses everybody (contract, "Settings").
 */
export const secretCheck = (secret: Redacted.Redacted | undefined): SecretCheck => {
  const value = secret === undefined ? "" : Redacted.value(secret)
  const expected = digestOf(value, "utf8")
  return (presented) => {
    const equal = timingSafeEqual(digestOf(presented ?? "", "latin1"), expected)
    return value !== "" && equal
  }
}

/** The token of an `Authorization: Bearer` header; the header's characters are bytes of UTF-8. */
export const bearerToken = (authorization: string | undefined): string | undefined => {
  const token = authorization === undefined ? undefined : /^Bearer +(\S.*)$/i.exec(authorization)?.[1]
  return token === undefined ? undefined : Buffer.from(token, "latin1").toString("utf8")
}
