import { createPublicKey, generateKeyPairSync, verify } from "node:crypto"

import { FakeHttp, type Vendor } from "./fake-http.ts"

const EMAIL = "svc@project.iam.gserviceaccount.com"

/** A service account of its own, and a fake of the token endpoint and of `messages.send` that checks what real ones check. */
export const fakeGmail = () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  const tokens = new Set<string>()
  const state = { tokenRequests: 0, mailbox: "", refuseToken: false, expiresIn: 3599 }

  const claimsOf = (assertion: string) => {
    const [header, payload, signature] = assertion.split(".")
    const genuine = verify(
      "RSA-SHA256",
      Buffer.from(`${header}.${payload}`),
      createPublicKey(publicKey.export({ type: "spki", format: "pem" })),
      Buffer.from(signature ?? "", "base64url")
    )
    const read = (part: string | undefined) => JSON.parse(Buffer.from(part ?? "", "base64url").toString())
    return genuine ? { header: read(header), payload: read(payload) } : undefined
  }

  const refused = (status: number, reason: string, message: string) => ({
    status,
    body: { error: { code: status, message, errors: [{ message, domain: "global", reason }] } }
  })

  const vendor: Vendor = {
    scripted: ({ path }) => path.includes("/messages/send"),
    error: (status) => refused(status, status === 429 ? "userRateLimitExceeded" : "backendError", "No"),
    handle: ({ body, headers, path }, accept) => {
      if (path === "/token") {
        state.tokenRequests += 1
        const form = new URLSearchParams(body)
        const found = claimsOf(form.get("assertion") ?? "")
        const { payload } = found ?? {}
        const valid =
          !state.refuseToken &&
          form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
          found?.header.alg === "RS256" &&
          found.header.kid === "key-1" &&
          payload.iss === EMAIL &&
          payload.scope === "https://www.googleapis.com/auth/gmail.send" &&
          payload.aud === `${fake.url}/token` &&
          payload.exp - payload.iat <= 3600
        if (!valid)
          return {
            status: 400,
            body: { error: "invalid_grant", error_description: "Invalid JWT Signature." }
          }
        state.mailbox = payload.sub
        const token = `ya29.${state.tokenRequests}`
        tokens.add(token)
        return {
          status: 200,
          body: { access_token: token, expires_in: state.expiresIn, token_type: "Bearer" }
        }
      }
      if (!path.includes("/gmail/v1/users/me/messages/send")) return undefined
      const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? ""
      if (!tokens.has(token)) return refused(401, "authError", "Invalid Credentials")
      const upload = path.startsWith("/upload/")
      const encoded = upload ? "" : String(JSON.parse(body).raw)
      if (!/^[\w-]*={0,2}$/.test(encoded))
        return refused(400, "invalidArgument", "Invalid value for ByteString")
      const raw = upload ? body : Buffer.from(encoded, "base64url").toString()
      if (!/^To: \S+@\S+$/m.test(raw)) return refused(400, "invalidArgument", "Recipient address required")
      return { status: 200, body: { id: accept(token, { raw, upload }), labelIds: ["SENT"] } }
    }
  }
  const fake = new FakeHttp(vendor)
  return {
    fake,
    state,
    /** Every token that was given out is refused from now on. */
    revoke: () => tokens.clear(),
    key: JSON.stringify({
      type: "service_account",
      client_email: EMAIL,
      private_key: pem,
      private_key_id: "key-1"
    }),
    /** Messages that were taken, oldest first. */
    sent: () =>
      fake.accepted.map(({ payload }) => payload as { readonly raw: string; readonly upload: boolean })
  }
}
