import { bareStatements } from "./senders/bare-statements.ts"
import { byHand, byHandOverHttp, byHandWebhook } from "./senders/by-hand.ts"
import { decodingHttp, webhookIntake } from "./senders/intake.ts"
import { rawResend, rawSes, smtpPool, upyoPool } from "./senders/peers.ts"
import { mailer, relay } from "./senders/postlane.ts"
import { batchedEvents, driverEvents, driverSends, storeSends } from "./senders/recording.ts"
import type { OpenSender } from "./senders/sender.ts"

/** A row of a table. */
export interface Row {
  readonly name: string
  readonly open: OpenSender
  /** The row that its ratio is taken of. */
  readonly baseline?: string
  /** The row of what a user would write by hand for the same. */
  readonly byHand?: string
  /** Least ratio at a number of callers. */
  readonly targets?: Readonly<Record<number, number>>
  /** Most milliseconds that it may add to the baseline's median with one caller. */
  readonly maxAddedMs?: number
  readonly concurrencies: ReadonlyArray<number>
  /** The baseline's number of callers where it is another one. */
  readonly baselineConcurrency?: number
}

const RESEND = "raw Resend SDK"
const SES = "raw SES SDK"
const HAND = "by hand, Resend"
const HAND_KEYS = "by hand, Resend, keys"
const HAND_SES = "by hand, SES"
const HAND_SES_KEYS = "by hand, SES, keys"
const HAND_RELAY = "by hand, Express, Resend, keys"
const CALLERS = [1, 32]
const SINGLE = [1, 8, 32]
const TOGETHER = [256]

/** What sends. */
export const SENDING: ReadonlyArray<Row> = [
  { name: RESEND, open: rawResend, concurrencies: CALLERS },
  { name: SES, open: rawSes, concurrencies: CALLERS },
  { name: "nodemailer SMTP pool", open: smtpPool, baseline: RESEND, concurrencies: CALLERS },
  { name: "@upyo/pool over fetch", open: upyoPool, baseline: RESEND, concurrencies: CALLERS },
  { name: HAND, open: byHand("provider_a", { keys: false }), baseline: RESEND, concurrencies: CALLERS },
  { name: HAND_KEYS, open: byHand("provider_a", { keys: true }), baseline: RESEND, concurrencies: CALLERS },
  { name: HAND_SES, open: byHand("provider_b", { keys: false }), baseline: SES, concurrencies: CALLERS },
  { name: HAND_SES_KEYS, open: byHand("provider_b", { keys: true }), baseline: SES, concurrencies: CALLERS },
  { name: HAND_RELAY, open: byHandOverHttp, baseline: RESEND, concurrencies: CALLERS },
  {
    name: "no rule: bare statements, Resend, keys",
    open: bareStatements,
    baseline: RESEND,
    byHand: HAND_KEYS,
    concurrencies: CALLERS
  },
  {
    name: "Mailer.send, Resend",
    open: mailer("provider_a", { keys: false }),
    baseline: RESEND,
    byHand: HAND,
    targets: { 32: 0.75 },
    maxAddedMs: 0.7,
    concurrencies: CALLERS
  },
  {
    name: "Mailer.send, Resend, keys",
    open: mailer("provider_a", { keys: true }),
    baseline: RESEND,
    byHand: HAND_KEYS,
    targets: { 32: 0.55 },
    maxAddedMs: 1,
    concurrencies: CALLERS
  },
  {
    name: "Mailer.send, SES",
    open: mailer("provider_b", { keys: false }),
    baseline: SES,
    byHand: HAND_SES,
    targets: { 32: 1.2 },
    maxAddedMs: 0.7,
    concurrencies: CALLERS
  },
  {
    name: "Mailer.send, SES, keys",
    open: mailer("provider_b", { keys: true }),
    baseline: SES,
    byHand: HAND_SES_KEYS,
    maxAddedMs: 1,
    concurrencies: CALLERS
  },
  {
    name: "relay over HTTP, Resend, keys",
    open: relay,
    baseline: RESEND,
    byHand: HAND_RELAY,
    targets: { 32: 0.45 },
    maxAddedMs: 1.3,
    concurrencies: CALLERS
  }
]

const DRIVER_SENDS = "record_email_send, driver"
const DRIVER_EVENTS = "record_email_events, driver"
const singly = { 1: 0.8, 8: 0.8, 32: 0.8 }

/** What writes rows of the library. */
export const RECORDING_SENDS: ReadonlyArray<Row> = [
  { name: DRIVER_SENDS, open: driverSends, concurrencies: SINGLE },
  {
    name: "record_email_send, mail store",
    open: storeSends,
    baseline: DRIVER_SENDS,
    targets: singly,
    concurrencies: SINGLE
  },
  {
    name: "record_email_send, mail store, together",
    open: storeSends,
    baseline: DRIVER_SENDS,
    baselineConcurrency: 32,
    targets: { 256: 2 },
    concurrencies: TOGETHER
  }
]

/** What writes delivery events. */
export const RECORDING_EVENTS: ReadonlyArray<Row> = [
  { name: DRIVER_EVENTS, open: driverEvents, concurrencies: SINGLE },
  {
    name: "record_email_events, batcher",
    open: batchedEvents,
    baseline: DRIVER_EVENTS,
    targets: singly,
    concurrencies: SINGLE
  },
  {
    name: "record_email_events, batcher, together",
    open: batchedEvents,
    baseline: DRIVER_EVENTS,
    baselineConcurrency: 32,
    targets: { 256: 2 },
    concurrencies: TOGETHER
  }
]

const DECODING_HTTP = "HTTP stack, reads, verifies, decodes"
const HAND_WEBHOOK = "by hand, Express, webhook"

/** What takes delivery events over HTTP. */
export const INTAKE: ReadonlyArray<Row> = [
  { name: DECODING_HTTP, open: decodingHttp, concurrencies: [32] },
  { name: HAND_WEBHOOK, open: byHandWebhook, baseline: DECODING_HTTP, concurrencies: [32] },
  {
    name: "webhook intake over HTTP",
    open: webhookIntake,
    baseline: DECODING_HTTP,
    byHand: HAND_WEBHOOK,
    targets: { 32: 0.6 },
    concurrencies: [32]
  }
]

/** All rows, in the order of the table. */
export const ROWS: ReadonlyArray<Row> = [...SENDING, ...RECORDING_SENDS, ...RECORDING_EVENTS, ...INTAKE]
