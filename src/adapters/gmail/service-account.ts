import { Redacted, Schema } from "effect"
import { importPKCS8, SignJWT } from "jose"

/** The one right that is asked for: to send. */
const SCOPE = "https://www.googleapis.com/auth/gmail.send"

const ALGORITHM = "RS256"

/** How long an assertion holds, seconds: the most that the vendor takes. */
export const ASSERTION_SECONDS = 3600

const KeyFile = Schema.Struct({
  client_email: Schema.String,
  private_key: Schema.String.check(Schema.isPattern(/-----BEGIN PRIVATE KEY-----/)),
  private_key_id: Schema.optionalKey(Schema.String),
  token_uri: Schema.optionalKey(Schema.String)
})

/** A service account, as in its JSON key. */
export interface ServiceAccount {
  readonly email: string
  readonly keyId: string | undefined
  /** PKCS #8, PEM. */
  readonly privateKey: Redacted.Redacted
  readonly tokenUri: string | undefined
}

/** Reads the JSON key; its errors never quote the key. */
export const readServiceAccount = (json: Redacted.Redacted): ServiceAccount => {
  try {
    const key = Schema.decodeUnknownSync(Schema.fromJsonString(KeyFile))(Redacted.value(json))
    return {
      email: key.client_email,
      keyId: key.private_key_id,
      privateKey: Redacted.make(key.private_key),
      tokenUri: key.token_uri
    }
  } catch {
    throw new Error("MAILAPI_SERVICE_ACCOUNT_KEY holds no service-account key with a PEM private key")
  }
}

/** A JWT (RFC 7523) that asks for a token to send as `mailbox`. `now` in seconds. */
export const signAssertion = async (
  { email, keyId, privateKey }: ServiceAccount,
  claims: { readonly mailbox: string; readonly audience: string; readonly now: number }
): Promise<string> =>
  new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) })
    .setIssuer(email)
    .setSubject(claims.mailbox)
    .setAudience(claims.audience)
    .setIssuedAt(claims.now)
    .setExpirationTime(claims.now + ASSERTION_SECONDS)
    .sign(await importPKCS8(Redacted.value(privateKey), ALGORITHM))
