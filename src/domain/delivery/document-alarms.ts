import { counted, type Level, percent, type Verdict } from "./alarm-verdict.ts"

/** The alarms about conversions, the batch lane and incoming mails. */
export const DOCUMENT_ALARMS = [
  "failed_conversions",
  "waiting_conversions",
  "batch_fallback",
  "unverified_mails",
  "waiting_mails"
] as const
type DocumentAlarm = (typeof DOCUMENT_ALARMS)[number]

/** The window of failures and of unverified mails, minutes, and that of batch jobs, hours. */
export const DOCUMENT_MINUTES = 30
export const BATCH_WINDOW_HOURS = 24

/** What the alarms about documents are judged by. */
export interface DocumentMeasures {
  /** Of the last {@link DOCUMENT_MINUTES}: conversions of every kind that failed, mailed ones among them. */
  readonly failed: number
  /** Minutes for which the oldest unclaimed conversion has been due; parked and paused ones do not count. */
  readonly waitingMinutes: number
  /** Of the batch jobs that were closed in the last {@link BATCH_WINDOW_HOURS}: their pages, and those that were converted on demand. */
  readonly batch: { readonly pages: number; readonly fallback: number }
  /** Mails that ended within {@link DOCUMENT_MINUTES}, and how many of them had an unverified sender. */
  readonly mails: { readonly ended: number; readonly unverified: number }
  /** Minutes for which the oldest unclaimed mail has been due, or a part that it needs has failed. */
  readonly mailWaitingMinutes: number
}

/** A broken document fails by itself; ten within half an hour have a common cause. */
const FAILED_CONVERSIONS = { bad: 10, calm: 3 }
/** A worker looks for work several times a second: what waits for half an hour finds too few of them, or none. */
const WAITING_MINUTES = { bad: 30, calm: 5 }
/** A page that falls back costs twice as much; below the minimum of pages a share means nothing. */
const FALLBACK = { minimum: 100, above: 0.2, calm: 0.1 }
/** Strangers' mails are unverified now and then; where most are, the hop's verdicts are not read. */
const UNVERIFIED = { bad: 10, calm: 2, share: 0.5 }

const fallbackLevel = ({ fallback, pages }: DocumentMeasures["batch"]): Level => {
  if (pages < FALLBACK.minimum) return "calm"
  const share = fallback / pages
  return share > FALLBACK.above ? "bad" : share <= FALLBACK.calm ? "calm" : "between"
}

const unverifiedLevel = ({ ended, unverified }: DocumentMeasures["mails"]): Level => {
  if (unverified <= UNVERIFIED.calm) return "calm"
  return unverified >= UNVERIFIED.bad && unverified > UNVERIFIED.share * ended ? "bad" : "between"
}

/** Judges one alarm about documents. */
export const judgeDocuments = (name: DocumentAlarm, measures: DocumentMeasures): Verdict => {
  const { batch, failed, mailWaitingMinutes, mails, waitingMinutes } = measures
  switch (name) {
    case "failed_conversions":
      return {
        level: counted(failed, FAILED_CONVERSIONS),
        detail: `${failed} conversions failed in ${DOCUMENT_MINUTES} minutes, the limit is ${FAILED_CONVERSIONS.bad}`
      }
    case "waiting_conversions":
      return {
        level: counted(waitingMinutes, WAITING_MINUTES),
        detail: `the oldest conversion without a worker has waited for ${waitingMinutes} minutes, the limit is ${WAITING_MINUTES.bad}`
      }
    case "batch_fallback":
      return {
        level: fallbackLevel(batch),
        detail: `${batch.fallback} of ${batch.pages} pages of the batch jobs of ${BATCH_WINDOW_HOURS} hours were converted on demand, the limit is ${percent(FALLBACK.above)}`
      }
    case "unverified_mails":
      return {
        level: unverifiedLevel(mails),
        detail: `${mails.unverified} of ${mails.ended} mails to the convert address in ${DOCUMENT_MINUTES} minutes had an unverified sender`
      }
    case "waiting_mails":
      return {
        level: counted(mailWaitingMinutes, WAITING_MINUTES),
        detail: `the oldest mail to the convert address without a worker has waited for ${mailWaitingMinutes} minutes, the limit is ${WAITING_MINUTES.bad}`
      }
  }
}
