import { providerName, PROVIDERS } from "../mail/provider.ts"
import type { MailTemplate } from "../mail/templates/template.ts"
import { pathTo } from "../pages.ts"
import {
  type AlarmName,
  isOfSilence,
  type NoticeKind,
  type SilenceAlarm,
  silentProvider
} from "./alarm-rules.ts"

const TITLES: Readonly<Record<Exclude<AlarmName, SilenceAlarm>, string>> = {
  failovers: "Sends fail over",
  provider_b_bounces: "Too many mails bounce",
  provider_b_complaints: "Too many mails are reported as spam",
  dead_letters: "Deferred mails could not be retried",
  fallback_only: "Only the fallback takes mail",
  deferred_sends: "Many mails wait for a retry",
  retries_overdue: "Retries are overdue",
  failed_sends: "Sends failed",
  unclaimed_sends: "Mail went out unchecked",
  queue_overdue: "The send queue is behind",
  queue_set_aside: "Senders die with a queued mail",
  queue_given_up: "Queued mails were given up",
  no_model: "High fidelity is not available",
  failed_conversions: "Many conversions fail",
  waiting_conversions: "Conversions are not worked on",
  batch_fallback: "The batch lane does not serve its pages",
  unverified_mails: "Senders of documents cannot be verified",
  waiting_mails: "Mailed documents are not worked on",
  event_hooks: "Events do not reach their hooks",
  clocks: "Clocks are apart"
}

const ADVICE: Readonly<Record<Exclude<AlarmName, SilenceAlarm>, string>> = {
  failovers: "The first provider refuses mail: look at the log lines EMAIL_FAILOVER for its reasons.",
  provider_b_bounces:
    "The provider reviews the account at 5 %. Find the source of the bad addresses and stop it.",
  provider_b_complaints:
    "The provider reviews the account at 0.1 %. Find the mail that people do not want and stop it.",
  dead_letters: "The page Dead letters says why each was given up, and puts one back into the queue.",
  fallback_only: "Mail goes out, and nothing is left to fail over to: see to the first provider.",
  deferred_sends:
    "A provider does not answer, or not clearly. The mails are tried again for half an hour; then they fail.",
  retries_overdue:
    "Their messages wait in a queue that no process takes from: doctor names it. Start a process with the role retry on that EMAIL_DEFER_QUEUE_URL.",
  failed_sends:
    "The page of each mail says why, and what to do: of some nobody knows whether they arrived, the others no provider took.",
  unclaimed_sends:
    "The database did not answer these sends in time. Their keys are in the log lines “a send goes out without look-up and claim”: look for a second copy in another process, and for suppressed recipients.",
  queue_overdue:
    "The page Send queue says what holds it back: a provider that refuses, a pace below what comes in, or no process with the role send.",
  queue_set_aside:
    "Its content may have caused it: the log line “a queued mail is set aside” names the mail. Mend the cause, look whether the provider took it, then queue it again under another key.",
  queue_given_up:
    "The page of each mail has what the provider said. Nothing was accepted: they may be queued again.",
  no_model:
    "Conversions fail, or do without it. The log lines HIFI_UNAVAILABLE hold the vendor's words; postlane doctor names what is missing.",
  failed_conversions: "The errors of the failed jobs, and of the incoming mails, name the cause.",
  waiting_conversions:
    "Start a process with the role worker, or more of them; one with another store than the database knows takes no work, and the overview says so under Processes.",
  batch_fallback:
    "Each such page costs twice as much. The page Jobs has the outcomes of the batch jobs, and the log the records that were refused.",
  unverified_mails:
    "The reports of the mail server in front may not be read: compare TRUSTED_MAIL_HOPS with it. The page Incoming mails has the reasons.",
  waiting_mails:
    "Start a process with the role intake. The page Incoming mails says what each mail waits for.",
  event_hooks:
    "The page Event hooks has what the receivers answer. A hook that is off stays off until it is resumed; its events can be sent again from a time.",
  clocks:
    "Let NTP set them; the log line CLOCK_OFF names a process that is off. While the database's own clock has gone back, keys and leases last longer by as much."
}

/** What an alarm means, and what to do about it. */
export const alarmMeaning = (name: AlarmName): { readonly title: string; readonly remedy: string } => {
  if (!isOfSilence(name)) return { title: TITLES[name], remedy: ADVICE[name] }
  const provider = silentProvider(name)
  return {
    title: `No delivery events of ${providerName(provider)}`,
    remedy: `Bounces go unseen. Look at ${PROVIDERS[provider].whenSilent}.`
  }
}

/** The mail of a notice. */
export const alarmMail = (
  name: AlarmName,
  kind: NoticeKind,
  detail: string,
  baseUrl: string
): MailTemplate => {
  const { remedy, title } = alarmMeaning(name)
  return {
    kind: "alarm",
    title,
    detail: `${detail[0]?.toUpperCase() ?? ""}${detail.slice(1)}.`,
    remedy: kind === "begun" ? remedy : undefined,
    url: `${baseUrl}${pathTo.admin}`
  }
}
