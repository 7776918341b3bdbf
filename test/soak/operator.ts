import { createHash } from "node:crypto"

import { count } from "./journal.ts"
import type { World } from "./world.ts"

const TOKEN = "soak-operator-token-0123456789-abcdefghij"

/** The operator's token. */
export const makeOperator = (world: World): Promise<unknown> =>
  world.query(
    "insert into api_tokens (token_hash, name, rights) values (decode($1, 'hex'), 'operator', '{admin,admin:read}')",
    [createHash("sha256").update(TOKEN).digest("hex")]
  )

/** Puts back what died in the retry queue, since its consumer was killed at each of three receives (D3). */
export const redriveDeadLetters = async (
  url: string | undefined,
  counts: Record<string, number>
): Promise<void> => {
  if (url === undefined) return
  const headers = { authorization: `Bearer ${TOKEN}` }
  const response = await fetch(`${url}/api/admin/dead-letters`, { headers }).catch(() => undefined)
  if (response?.status !== 200) {
    await response?.body?.cancel()
    return
  }
  const { deadLetters } = (await response.json()) as {
    readonly deadLetters: ReadonlyArray<{ readonly id: string }>
  }
  for (const { id } of deadLetters) {
    const path = `/api/admin/dead-letters/${encodeURIComponent(id)}/redrive`
    const put = await fetch(`${url}${path}`, { method: "POST", headers }).catch(() => undefined)
    await put?.body?.cancel()
    if (put?.status === 200) count(counts, "dead letters redriven by the operator")
  }
}
