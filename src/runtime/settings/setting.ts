import type { ReadValue } from "./readers.ts"

/** The headings under which the configuration page lists the settings, in its order. */
export const GROUPS = {
  service: "The service",
  access: "Access",
  domains: "Domains and senders",
  database: "Database",
  sending: "Sending",
  providerA: "provider_a (Resend)",
  providerB: "provider_b (Amazon SES)",
  cloud: "Cloud account",
  retryQueue: "Delayed retry queue",
  events: "Delivery events and alerts",
  intake: "Convert-by-email",
  conversion: "Conversion",
  batch: "Batch lane",
  telemetry: "Logs, metrics and traces"
} as const
export type Group = keyof typeof GROUPS

/** One setting: everything about it but its value. */
export interface Setting<A = unknown> {
  readonly group: Group
  /** Description, one or two sentences. */
  readonly about: string
  /** The default, as it would be written in the environment. */
  readonly fallback?: string
  /** What holds when it is unset, in words, where that depends on other settings. */
  readonly otherwise?: string
  /** What the number counts. */
  readonly unit?: string
  /** True where the value must never be shown. */
  readonly secret: boolean
  /** Another name that means the same, used where this one is unset. */
  readonly alias?: string
  /** Under `POSTLANE_EMBEDDED=1` a value is generated and kept in the data folder. */
  readonly generated?: boolean
  /** Set but empty has a meaning of its own; everywhere else it counts as unset. */
  readonly emptyText?: string
  readonly read: ReadValue<A>
}

type Rest = Omit<Setting, "group" | "about" | "secret" | "read">
type None = Readonly<Record<never, never>>

/** A setting whose value may be shown. */
export const open = <A, const R extends Rest = None>(
  group: Group,
  about: string,
  read: ReadValue<A>,
  rest?: R
): Setting<A> & R => ({ group, about, read, secret: false, ...(rest ?? ({} as R)) })

/** A secret. */
export const hidden = <A, const R extends Rest = None>(
  group: Group,
  about: string,
  read: ReadValue<A>,
  rest?: R
): Setting<A> & R => ({ ...open(group, about, read, rest), secret: true })

/** An address that is the vendor's own unless it is set. */
export const vendor = { otherwise: "the vendor's" }

/** How many single-character edits lead from one text to the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** The known name that was probably meant: at most a third of its characters differ. */
export const nearestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  let best: { readonly name: string; readonly edits: number } | undefined
  for (const candidate of known) {
    const edits = distance(name.toUpperCase(), candidate)
    if (edits <= candidate.length / 3 && (best === undefined || edits < best.edits))
      best = { name: candidate, edits }
  }
  return best?.name
}
