import { Redacted, Schema } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** The one right that is asked for: to send. */
const SCOPE = "https://www.googleapis.com/auth/gmail.send"

/** How long an assertion holds, seconds: the most that the vendor takes. */
export const ASSERTION_SECONDS = 3600

const KeyFile = Schema.Struct({
  client_email: Schema.String,
  private_key: Schema.String,
  private_key_id: Schema.optionalKey(Schema.String),
  token_uri: Schema.optionalKey(Schema.String)
})

/** A service account, as in its JSON key. */
export interface ServiceAccount {
  readonly email: string
  readonly keyId: string | undefined
  /** PKCS #8. */
  readonly privateKey: Redacted.Redacted<Uint8Array<ArrayBuffer>>
  readonly tokenUri: string | undefined
}

/** The bytes between the lines of a PEM file. */
const derOf = (pem: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(pem.replaceAll(/-----[^-]+-----|\s/g, "")), (char) => char.charCodeAt(0))

/** Reads the JSON key; its errors never quote the key. */
export const readServiceAccount = (json: Redacted.Redacted): ServiceAccount => {
  try {
    const key = Schema.decodeUnknownSync(Schema.fromJsonString(KeyFile))(Redacted.value(json))
    return {
      email: key.client_email,
      keyId: key.private_key_id,
      privateKey: Redacted.make(derOf(key.private_key)),
      tokenUri: key.token_uri
    }
  } catch {
    throw new Error("MAILAPI_SERVICE_ACCOUNT_KEY holds no service-account key with a PEM private key")
  }
}

const encoder = new TextEncoder()
const part = (value: object): string => Base64Url.encode(encoder.encode(JSON.stringify(value)))

/** A JWT (RFC 7523) that asks for a token to send as `mailbox`, signed RS256 with Web Crypto. `now` in seconds. */
export const signAssertion = async (
  account: ServiceAccount,
  claims: { readonly mailbox: string; readonly audience: string; readonly now: number }
): Promise<string> => {
  const key = await crypto.subtle.importKey(
    "pkcs8",
    Redacted.value(account.privateKey),
    { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    false,
    ["sign"]
  )
  const header = { alg: "RS256", typ: "JWT", ...(account.keyId === undefined ? {} : { kid: account.keyId }) }
  const payload = {
    iss: account.email,
    sub: claims.mailbox,
    scope: SCOPE,
    aud: claims.audience,
    iat: claims.now,
    exp: claims.now + ASSERTION_SECONDS
  }
  const signed = `${part(header)}.${part(payload)}`
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", key, encoder.encode(signed))
  return `${signed}.${Base64Url.encode(new Uint8Array(signature))}`
}
