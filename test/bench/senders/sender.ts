/** What the rows of the table run against. */
export interface Targets {
  readonly databaseUrl: string
  readonly providerUrl: string
  readonly smtpPort: number
}

/** One way to send, or to write, that is measured. */
export interface Sender {
  /** One send; rejects unless it was accepted. */
  readonly send: () => Promise<unknown>
  /** Processor time used so far, microseconds; this process's own where absent. */
  readonly cpuMicros?: () => Promise<number>
  readonly close: () => Promise<void>
}

/** Opens a sender; `concurrency` is the most callers that it will have. */
export type OpenSender = (targets: Targets, concurrency: number) => Promise<Sender>

let count = 0

/** A number that this process has not used yet. */
export const next = (): number => (count += 1)

const RECIPIENTS = 50_000

/** A recipient that is not on the suppression list. */
export const recipient = (n: number): string => `user${n % RECIPIENTS}@example.com`

export const FROM = "Postlane <noreply@postlane.test>"
export const SUBJECT = "Your order has shipped"

/** About 600 bytes, as a short notification has. */
export const HTML = `<!doctype html><html lang="en"><body><h1>Your order has shipped</h1>${"<p>It left our house this morning and is on its way to you.</p>".repeat(8)}</body></html>`
