import { startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { ADMIN_TOKEN, checked, without } from "../installation.ts"
import type { Check } from "../reference.ts"
import { comes } from "../services.ts"

const OWNER_TOKEN = "outside-owner-token"
const PAGES = 3
const CALLERS = 2

interface File {
  readonly id: string
  readonly hasResult: boolean
  readonly lastJob: { readonly status: string } | null
}

interface Move {
  readonly kind: string
  readonly fileId: string | null
}

interface Moves {
  readonly rows: ReadonlyArray<Move>
  readonly nextCursor: string | null
  readonly holds: ReadonlyArray<unknown>
}

const ENDED: ReadonlySet<string | undefined> = new Set(["completed", "failed", "cancelled"])

/** Uploads and conversions while the network before the object store is in trouble, and what came of them. */
export const convertThrough = async (
  settings: Readonly<Record<string, string>>,
  make: () => Promise<unknown>
): Promise<ReadonlyArray<Check>> => {
  const server = await startAttacked({ ADMIN_TOKEN, OWNER_TOKEN, ...settings })
  const ask = (path: string, init: Pick<RequestInit, "method" | "body"> = {}, token = OWNER_TOKEN) =>
    fetch(`${server.url}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${token}`,
        ...(typeof init.body === "string" ? { "content-type": "application/json" } : {})
      },
      signal: AbortSignal.timeout(60_000)
    })
  const json = async <A>(path: string): Promise<A> => (await ask(path)).json() as Promise<A>
  try {
    const { account } = await json<{ readonly account: { readonly id: string } }>("/api/v1/account")
    await ask(
      `/api/admin/customers/${account.id}/credits`,
      {
        method: "POST",
        body: JSON.stringify({ credits: 10_000, reference: "outside" })
      },
      ADMIN_TOKEN
    )
    const body = new Uint8Array(numbered(PAGES))
    const uploaded: Array<string> = []
    const refused: Array<string> = []
    let isOver = false
    const caller = async (who: number) => {
      for (let n = 0; !isOver; n++) {
        const answer = await ask(`/api/v1/files?name=${who}-${n}.pdf`, { method: "POST", body }).catch(
          () => undefined
        )
        if (answer?.status !== 201) {
          refused.push(`${answer?.status}`)
          continue
        }
        const { file } = (await answer.json()) as { readonly file: File }
        uploaded.push(file.id)
        await ask(`/api/v1/files/${file.id}/convert`, { method: "POST" }).catch(() => undefined)
      }
    }
    const callers = Array.from({ length: CALLERS }, (_, who) => caller(who))
    await make()
    isOver = true
    await Promise.all(callers)
    const fileOf = async (id: string) => (await json<{ readonly file: File }>(`/api/v1/files/${id}`)).file
    const wrong: Record<"endless" | "hopeless" | "torn", Array<string>> = {
      endless: [],
      hopeless: [],
      torn: []
    }
    for (const id of uploaded) {
      const end = () =>
        comes(
          `${id} ends`,
          async () => {
            const file = await fileOf(id)
            return file.lastJob === null || ENDED.has(file.lastJob.status) ? file : undefined
          },
          240
        )
      const first = await end().catch(() => undefined)
      if (first === undefined) {
        wrong.endless.push(id)
        continue
      }
      // Its owner asks again where the trouble won.
      if (!first.hasResult) await ask(`/api/v1/files/${id}/convert`, { method: "POST" })
      const last = await end().catch(() => undefined)
      if (last?.hasResult !== true) wrong.hopeless.push(JSON.stringify(last))
      const html = await (await ask(`/api/v1/files/${id}/result`)).text()
      const counts = Array.from(
        { length: PAGES },
        (_, page) => html.split(new RegExp(`Page number ${page + 1}\\b`)).length - 1
      )
      if (counts.some((count) => count !== 1)) wrong.torn.push(`${id}: ${counts.join(", ")}`)
    }
    const moves = (cursor = "") => json<Moves>(`/api/v1/account/charges?limit=200${cursor}`)
    const settled = async () => {
      const found = await moves()
      return found.holds.length === 0 ? found : undefined
    }
    let found = await comes("nothing is set aside any more", settled).catch(() => moves())
    const { holds } = found
    const rows = [...found.rows]
    while (found.nextCursor !== null) {
      found = await moves(`&cursor=${encodeURIComponent(found.nextCursor)}`)
      rows.push(...found.rows)
    }
    const charges = (id: string) => rows.filter((row) => row.kind === "charge" && row.fileId === id).length
    return [
      checked(`${uploaded.length} documents were taken`, uploaded.length > 0),
      without("each conversion ends", wrong.endless),
      without("each has its result, at the latest when it is asked for again", wrong.hopeless),
      without("each page is in it once", wrong.torn),
      without(
        "each is paid once",
        uploaded.filter((id) => charges(id) !== 1).map((id) => `${id}: ${charges(id)} charges`)
      ),
      checked("nothing is set aside for nothing", holds.length === 0, JSON.stringify(holds)),
      checked("the network was in the way", refused.length > 0, "every upload was taken")
    ]
  } finally {
    await server.stop()
  }
}
