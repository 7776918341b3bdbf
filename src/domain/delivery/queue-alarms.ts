import { counted, type Verdict } from "./alarm-verdict.ts"

/** The alarms about the send queue. */
export const QUEUE_ALARMS = ["queue_overdue", "queue_set_aside", "queue_given_up"] as const
type QueueAlarm = (typeof QUEUE_ALARMS)[number]

/** Whether it is an alarm about the send queue. */
export const isOfQueue = (name: string): name is QueueAlarm => QUEUE_ALARMS.some((one) => one === name)

/** The measurements of the send queue. */
export interface QueueMeasures {
  /** For how long the oldest request has been due, a refused one since it was taken first; milliseconds, paused ones aside, 0 where none is. */
  readonly oldestDueMs: number
  /** Requests of the last half hour that ended since two senders died with them. */
  readonly setAside: number
  /** Requests of the last half hour that no provider took within their time. */
  readonly givenUp: number
}

/** The queue sends within seconds, and within minutes at the pace of a provider after a burst. */
const OVERDUE_MS = { bad: 5 * 60_000, calm: 60_000 }
const NONE = { bad: 1, calm: 0 }

/** Judges an alarm about the send queue. */
export const judgeQueue = (name: QueueAlarm, { givenUp, oldestDueMs, setAside }: QueueMeasures): Verdict => {
  switch (name) {
    case "queue_overdue":
      return {
        level: counted(oldestDueMs, OVERDUE_MS),
        detail: `a mail of the send queue has been due for ${Math.round(oldestDueMs / 1000)} s, the limit is ${OVERDUE_MS.bad / 1000} s`
      }
    case "queue_set_aside":
      return {
        level: counted(setAside, NONE),
        detail: `${setAside} mails of the send queue were set aside in 30 minutes, since two senders died with each`
      }
    case "queue_given_up":
      return {
        level: counted(givenUp, NONE),
        detail: `${givenUp} mails of the send queue ended failed in 30 minutes, since no provider took them within their time`
      }
  }
}
