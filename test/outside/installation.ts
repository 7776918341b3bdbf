/** What references ask of an installation that they run programs against. */
import type { Check } from "./reference.ts"
import type { run } from "./tools.ts"

export const ADMIN_TOKEN = "outside-admin-token"
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" }

interface Installation {
  readonly url: string
}

/** The text of a new sender token. */
export const senderToken = async (
  { url }: Installation,
  body: { readonly name: string; readonly ratePerMinute?: number }
): Promise<string> => {
  const made = await fetch(`${url}/api/admin/sender-tokens`, {
    method: "POST",
    headers: ADMIN,
    body: JSON.stringify(body)
  })
  if (!made.ok) throw new Error(`a sender token: ${made.status} ${await made.text()}`)
  return ((await made.json()) as { readonly token: string }).token
}

/** Ids of the outbox's mails with these words, newest first. */
export const arrived = async ({ url }: Installation, words: string): Promise<ReadonlyArray<string>> => {
  const answer = await fetch(`${url}/dev/outbox?q=${encodeURIComponent(words)}`, {
    headers: { accept: "application/json" }
  })
  const { messages } = (await answer.json()) as {
    readonly messages: ReadonlyArray<{ readonly id: string }>
  }
  return messages.map(({ id }) => id)
}

/** A mail of the outbox, taken apart. */
export const contentOf = async (
  { url }: Installation,
  id: string
): Promise<Readonly<Record<string, unknown>>> =>
  (await fetch(`${url}/dev/outbox/${id}/content`)).json() as Promise<Readonly<Record<string, unknown>>>

/** Where the log has a recipient's mails, the newest first: a retry has a row of its own. */
export const statusesOf = async (
  { url }: Installation,
  recipient: string
): Promise<ReadonlyArray<string>> => {
  const path = `/api/admin/email-log?recipient=${encodeURIComponent(recipient)}&limit=10`
  const answer = await fetch(`${url}${path}`, { headers: ADMIN })
  const { rows } = (await answer.json()) as { readonly rows: ReadonlyArray<{ readonly status: string }> }
  return rows.map(({ status }) => status)
}

/** Where it has the newest one. */
export const statusOf = async (installation: Installation, recipient: string): Promise<string | undefined> =>
  (await statusesOf(installation, recipient))[0]

/** One check. */
export const checked = (name: string, holds: boolean, detail = ""): Check =>
  holds ? { name, outcome: "held" } : { name, outcome: "failed", detail }

/** A check that holds where nothing was found against it. */
export const without = (name: string, found: ReadonlyArray<string>): Check =>
  checked(name, found.length === 0, found.slice(0, 5).join("\n"))

/** The checks that a trial printed, a line each; whatever ends it early is one that failed. */
export const checksIn = ({ code, stderr, stdout }: Awaited<ReturnType<typeof run>>): ReadonlyArray<Check> => {
  const checks = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Check => {
      const { detail, name, outcome } = JSON.parse(line) as Required<Check>
      return checked(name, outcome === "held", detail)
    })
  return code === 0 ? checks : [...checks, checked("the trial runs to its end", false, stderr.slice(-3000))]
}
