import { Provider, providerName, ReportingProvider, REVIEWING_PROVIDER } from "../mail/provider.ts"
import { counted, type Level, percent, type Verdict } from "./alarm-verdict.ts"
import { DOCUMENT_ALARMS, type DocumentMeasures, judgeDocuments } from "./document-alarms.ts"
import { isOfQueue, judgeQueue, QUEUE_ALARMS, type QueueMeasures } from "./queue-alarms.ts"

/** The alarm on a provider whose delivery events do not come. */
export type SilenceAlarm = `silence_${ReportingProvider}`
const SILENCE_ALARMS: ReadonlyArray<SilenceAlarm> = ReportingProvider.literals.map(
  (provider) => `silence_${provider}` as const
)

/** Whether it is an alarm on a provider's silence. */
export const isOfSilence = (name: string): name is SilenceAlarm =>
  SILENCE_ALARMS.some((alarm) => alarm === name)

/** The provider of an alarm on silence. */
export const silentProvider = (name: SilenceAlarm): ReportingProvider =>
  name.slice("silence_".length) as ReportingProvider

/** The alarms about outbound mail as a whole, and about conversions (EVENT-40). */
export const ALARMS = [
  "failovers",
  "provider_b_bounces",
  "provider_b_complaints",
  "dead_letters",
  "fallback_only",
  "deferred_sends",
  "retries_overdue",
  "failed_sends",
  "unclaimed_sends",
  ...QUEUE_ALARMS,
  ...SILENCE_ALARMS,
  "no_model",
  ...DOCUMENT_ALARMS,
  "event_hooks",
  "clocks"
] as const
export type AlarmName = (typeof ALARMS)[number]

/** The provider that an alarm is about; undefined where it is about all mail, or none. */
const providerOf = (name: AlarmName): Provider | undefined =>
  isOfSilence(name) ? silentProvider(name) : Provider.literals.find((one) => name.startsWith(`${one}_`))

/**
 * Whether an alarm is shown. Each is judged whatever the settings name, since a request may be pinned to another provider; one about a
 * provider that they do not name is shown while it fires.
 */
export const isShown = (
  name: AlarmName,
  { firing }: Pick<AlarmState, "firing">,
  configured: ReadonlyArray<Provider>
): boolean => {
  const provider = providerOf(name)
  return firing || provider === undefined || configured.includes(provider)
}

/** What the alarm on event hooks is judged by. */
interface HookMeasures {
  /** Hooks that have switched themselves off. */
  readonly off: number
  /** Events that are to be sent, 10,000 at most. */
  readonly pending: number
  /** Events that died in the last {@link RECENT_MINUTES}. */
  readonly dead: number
  /** For how long the oldest event has been due and not tried, seconds. */
  readonly oldestSeconds: number
}

/** The measurements that the alarms are judged by. Times are milliseconds of the database's clock. */
export interface Measures {
  readonly at: number
  /** Sends that failed over in the last {@link FAILOVER_WINDOW_MINUTES}. */
  readonly failovers: number
  /** Mail that `provider_b` accepted in the last {@link RATE_WINDOW_HOURS}, and its bounces and complaints. */
  readonly providerB: { readonly sends: number; readonly bounced: number; readonly complained: number }
  /** Accepted sends of the last {@link RECENT_MINUTES}: after a fail-over, and by the provider tried first. */
  readonly accepted: { readonly byFallback: number; readonly byPrimary: number }
  /** Sends of the last {@link RECENT_MINUTES} that wait for a retry, and that no provider took or may have taken. */
  readonly unsettled: { readonly deferred: number; readonly failed: number }
  /** Sends that went out without suppression look-up and claim, as their processes reported in the last {@link RECENT_MINUTES}. */
  readonly unclaimed: number
  /** Deferred sends with a retry that was due more than {@link OVERDUE_MINUTES} ago and without any sign of life since. */
  readonly overdue: number
  /**
   * The largest difference of a process's clock from the database's that was noted in the last {@link CLOCK_NOTED_MINUTES}, and how far
   * the newest row of the log is ahead of the database's clock, which has gone back then; milliseconds.
   */
  readonly clocks: { readonly processOffMs: number; readonly databaseBackMs: number }
  /** Accepted sends older than {@link SILENCE_AFTER_MINUTES}, newer than the newest send with any event. */
  readonly silent: Readonly<Record<ReportingProvider, number>>
  /** Whether the retry queue has dead letters; `undefined` where it cannot report them. */
  readonly deadLetters: boolean | undefined
  /** Pages of the last {@link RECENT_MINUTES} that the high-fidelity model refused, or gave no answer to. */
  readonly unanswered: number
  readonly documents: DocumentMeasures
  readonly hooks: HookMeasures
  readonly queue: QueueMeasures
}

/** The state of an alarm. */
export interface AlarmState {
  readonly firing: boolean
  /** Counts how often it began. */
  readonly episode: number
  /** Since when it has been calm, while it fires; milliseconds. */
  readonly calmSince: number | undefined
}

/** The notices of an episode; each goes out once. */
export type NoticeKind = "begun" | "ended"

/** A state change of an alarm. */
export interface AlarmChange {
  readonly name: AlarmName
  readonly from: AlarmState
  readonly to: AlarmState
  /** The notice to send; absent where only `calmSince` changes. */
  readonly notice: NoticeKind | undefined
  /** The figures, in words. */
  readonly detail: string
}

export const QUIET: AlarmState = { firing: false, episode: 0, calmSince: undefined }

export const FAILOVER_WINDOW_MINUTES = 15
export const FAILOVERS = 3

/** The provider judges by several days; one day is the shortest window that covers every hour's traffic. */
export const RATE_WINDOW_HOURS = 24
/**
 * The provider reviews an account at 5 % and 0.1 %. Below the minimum of sends a share means nothing (one bounce of 40 is
 * 2.5 %): there the count decides.
 */
export const BOUNCES = { minimum: 200, above: 0.02, calm: 0.015, few: { bad: 10, calm: 4 } }
export const COMPLAINTS = { minimum: 1_000, above: 0.0005, calm: 0.0003, few: { bad: 3, calm: 1 } }

/** The window of the alarms on fall-backs, deferrals and failures. */
export const RECENT_MINUTES = 30
const FALLBACK_SENDS = 10

/** One time-out among thousands is normal; ten mails that wait at once are an outage. */
const DEFERRED = { bad: 10, calm: 2 }
/**
 * Minutes after which a retry counts as overdue. It begins within seconds of its time; within minutes after three crashes of its
 * consumer, or after it was put back in an outage.
 */
export const OVERDUE_MINUTES = 15
/** How far back overdue retries are looked for: a day longer than any retry may still go out. */
export const OVERDUE_WINDOW_HOURS = 48
const OVERDUE = { bad: 1, calm: 0 }

/** How far clocks may be apart: NTP keeps them within a second. */
export const CLOCK_LIMIT_MS = 60_000
/** A process notes its difference every minute, and what it noted before it was mended is soon over. */
export const CLOCK_NOTED_MINUTES = 3

/** These mails were valid, and nothing proves that they arrived. */
const FAILED = { bad: 3, calm: 0 }

/** Each of them may be a second copy, or mail to somebody who must not be mailed. */
const UNCLAIMED = { bad: 1, calm: 0 }

/** Events come within seconds, at most a few minutes; half an hour leaves room for a poll every 15 minutes. */
export const SILENCE_AFTER_MINUTES = 30
/** Twenty mails in a row without an event: if one mail in ten had none by chance, the odds are 1 in 10^20. */
const SILENT_SENDS = { bad: 20, calm: 5 }

/** Unanswered calls within half an hour. One refused prompt is normal; three point to the account, the model or the region. */
const UNANSWERED = { bad: 3, calm: 0 }

/** An event that is due is tried within seconds, unless no process sends, or its receiver keeps others waiting. */
const HOOK_DUE_SECONDS = 5 * 60

/** How long an alarm must be calm without a break before it ends: a flapping alarm stays one episode. */
export const CALM_MS = 15 * 60_000

const rate = (what: string, sends: number, hits: number, limits: typeof BOUNCES): Verdict => {
  const few = sends < limits.minimum
  const share = hits / sends
  const level = few
    ? counted(hits, limits.few)
    : share > limits.above
      ? "bad"
      : share <= limits.calm
        ? "calm"
        : "between"
  const limit = few
    ? `the limit is ${limits.few.bad} of less than ${limits.minimum} mails`
    : `${percent(share)}, the limit is ${percent(limits.above)}`
  return {
    level,
    detail: `${hits} of ${sends} mails of ${providerName(REVIEWING_PROVIDER)} in ${RATE_WINDOW_HOURS} hours ${what}: ${limit}`
  }
}

const silence = (provider: ReportingProvider, sends: number): Verdict => ({
  level: sends >= SILENT_SENDS.bad ? "bad" : sends < SILENT_SENDS.calm ? "calm" : "between",
  detail: `${sends} mails in a row that ${providerName(provider)} took more than ${SILENCE_AFTER_MINUTES} minutes ago have no delivery event`
})

const hooksVerdict = ({ hooks: { dead, off, oldestSeconds } }: Measures): Verdict => {
  const isOverdue = oldestSeconds > HOOK_DUE_SECONDS
  return {
    level: off > 0 || dead > 0 || isOverdue ? "bad" : "calm",
    detail: `${off} event hooks are off since nothing was received, ${dead} events died in ${RECENT_MINUTES} minutes, and the oldest has been due for ${Math.round(oldestSeconds / 60)} minutes`
  }
}

const modelVerdict = ({ unanswered }: Measures): Verdict => ({
  level: counted(unanswered, UNANSWERED),
  detail: `the high-fidelity model converted none of ${unanswered} pages in ${RECENT_MINUTES} minutes that it was asked for, the limit is ${UNANSWERED.bad}`
})

const clocksVerdict = ({ clocks: { databaseBackMs, processOffMs } }: Measures): Verdict => {
  const seconds = (ms: number) => Math.round(ms / 1000)
  return {
    level: Math.max(databaseBackMs, processOffMs) > CLOCK_LIMIT_MS ? "bad" : "calm",
    detail: `a process's clock is up to ${seconds(processOffMs)} s off the database's, whose newest row is ${seconds(databaseBackMs)} s ahead of its clock`
  }
}

/** Judges one alarm by the measurements. */
export const judge = (name: AlarmName, measures: Measures): Verdict => {
  if (isOfSilence(name)) {
    const provider = silentProvider(name)
    return silence(provider, measures.silent[provider])
  }
  if (isOfQueue(name)) return judgeQueue(name, measures.queue)
  switch (name) {
    case "failovers": {
      const { failovers } = measures
      return {
        level: failovers >= FAILOVERS ? "bad" : failovers === 0 ? "calm" : "between",
        detail: `${failovers} sends failed over in ${FAILOVER_WINDOW_MINUTES} minutes, the limit is ${FAILOVERS}`
      }
    }
    case "provider_b_bounces":
      return rate("bounced", measures.providerB.sends, measures.providerB.bounced, BOUNCES)
    case "provider_b_complaints":
      return rate(
        "were reported as spam",
        measures.providerB.sends,
        measures.providerB.complained,
        COMPLAINTS
      )
    case "dead_letters":
      return measures.deadLetters === undefined
        ? { level: "between", detail: "the retry queue does not say whether it has dead letters" }
        : measures.deadLetters
          ? { level: "bad", detail: "the retry queue has dead letters" }
          : { level: "calm", detail: "the retry queue has no dead letters" }
    case "fallback_only": {
      const { byFallback, byPrimary } = measures.accepted
      return {
        level: byPrimary > 0 ? "calm" : byFallback >= FALLBACK_SENDS ? "bad" : "between",
        detail: `in ${RECENT_MINUTES} minutes the fallback took ${byFallback} mails, the provider before it ${byPrimary}`
      }
    }
    case "deferred_sends": {
      const { deferred } = measures.unsettled
      return {
        level: counted(deferred, DEFERRED),
        detail: `${deferred} sends were deferred in ${RECENT_MINUTES} minutes, the limit is ${DEFERRED.bad}`
      }
    }
    case "retries_overdue":
      return {
        level: counted(measures.overdue, OVERDUE),
        detail: `${measures.overdue} deferred sends should have been tried again more than ${OVERDUE_MINUTES} minutes ago, and were not`
      }
    case "failed_sends": {
      const { failed } = measures.unsettled
      return {
        level: counted(failed, FAILED),
        detail: `${failed} sends ended failed in ${RECENT_MINUTES} minutes without having been refused, the limit is ${FAILED.bad}`
      }
    }
    case "unclaimed_sends":
      return {
        level: counted(measures.unclaimed, UNCLAIMED),
        detail: `${measures.unclaimed} sends went out without suppression look-up and claim, as reported in the last ${RECENT_MINUTES} minutes`
      }
    case "no_model":
      return modelVerdict(measures)
    case "event_hooks":
      return hooksVerdict(measures)
    case "clocks":
      return clocksVerdict(measures)
    default:
      return judgeDocuments(name, measures.documents)
  }
}

/** The next state of one alarm: every episode begins once and ends once. */
const step = (
  from: AlarmState,
  level: Level,
  at: number
): { readonly to: AlarmState; readonly notice: NoticeKind | undefined } => {
  if (!from.firing) {
    return level === "bad"
      ? { to: { firing: true, episode: from.episode + 1, calmSince: undefined }, notice: "begun" }
      : { to: from, notice: undefined }
  }
  if (level !== "calm") return { to: { ...from, calmSince: undefined }, notice: undefined }
  // Later than now: the database's clock went back.
  const calmSince = Math.min(from.calmSince ?? at, at)
  return at - calmSince >= CALM_MS
    ? { to: { firing: false, episode: from.episode, calmSince: undefined }, notice: "ended" }
    : { to: { ...from, calmSince }, notice: undefined }
}

/** The state of every alarm. */
export type AlarmTable = Readonly<Record<AlarmName, AlarmState>>

/** The table of all alarms, each in the state that `stateOf` names. */
export const alarmTable = (stateOf: (name: AlarmName) => AlarmState): AlarmTable =>
  Object.fromEntries(ALARMS.map((name) => [name, stateOf(name)])) as Record<AlarmName, AlarmState>

/** Alarms with a state that the measurements change, and their notices. */
export const evaluate = (previous: AlarmTable, measures: Measures): ReadonlyArray<AlarmChange> =>
  ALARMS.flatMap((name): ReadonlyArray<AlarmChange> => {
    const from = previous[name]
    const { detail, level } = judge(name, measures)
    const { notice, to } = step(from, level, measures.at)
    const same = to.firing === from.firing && to.calmSince === from.calmSince
    return same ? [] : [{ name, from, to, notice, detail }]
  })
