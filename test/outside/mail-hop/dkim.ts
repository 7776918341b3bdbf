import { createHash, createSign, generateKeyPairSync } from "node:crypto"

/** A key that signs, and its record. */
export const makeKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`
  return { privateKey, record }
}

type Key = ReturnType<typeof makeKey>

/** RFC 6376, section 3.4.2. */
const relaxed = (header: string): string => {
  const at = header.indexOf(":")
  const value = header
    .slice(at + 1)
    .replaceAll(/\r\n(?=[ \t])/g, "")
    .replaceAll(/[ \t]+/g, " ")
    .trim()
  return `${header.slice(0, at).trimEnd().toLowerCase()}:${value}`
}

interface Signing {
  readonly key: Key
  readonly domain: string
  readonly selector?: string
  /** Names of the headers that it covers. */
  readonly covers?: ReadonlyArray<string>
  /** More tags, as they stand there: `i=@x.test`. */
  readonly tags?: ReadonlyArray<string>
}

/** The `DKIM-Signature` of a mail (relaxed headers, simple body). */
export const dkimOf = (
  headers: ReadonlyArray<string>,
  body: string,
  { covers = ["from", "to", "subject", "message-id"], domain, key, selector = "k1", tags = [] }: Signing
): string => {
  const hash = createHash("sha256")
    .update(`${body.replace(/(?:\r\n)+$/, "")}\r\n`, "latin1")
    .digest("base64")
  const unsigned = `DKIM-Signature: ${[
    "v=1",
    "a=rsa-sha256",
    "c=relaxed/simple",
    `d=${domain}`,
    `s=${selector}`,
    ...tags,
    `h=${covers.join(":")}`,
    `bh=${hash}`,
    "b="
  ].join("; ")}`
  const signed = covers.flatMap((name) =>
    headers.filter((header) => relaxed(header).startsWith(`${name}:`)).slice(-1)
  )
  const text = `${signed.map((header) => `${relaxed(header)}\r\n`).join("")}${relaxed(unsigned)}`
  return `${unsigned}${createSign("sha256").update(text, "latin1").sign(key.privateKey, "base64")}`
}
