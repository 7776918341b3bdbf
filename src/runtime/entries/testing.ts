/** `postlane/testing`: Postlane on simulated providers, for the tests of what sends with it. */
export {
  type LoggedMail,
  type SimulatedEmail,
  type SimulatedEmailOptions,
  simulateEmail,
  type TestClock
} from "../testing/in-process.ts"
export {
  type MailMatch,
  type MailSummary,
  type TestMail,
  type TestOutbox,
  UnexpectedMails
} from "../testing/outbox.ts"
export type {
  AboutRecipients,
  ProviderControl,
  ProviderReports,
  RequestsMeant
} from "../testing/provider-control.ts"
export { type StartOptions, startPostlane, type TestClients, type TestPostlane } from "../testing/server.ts"
