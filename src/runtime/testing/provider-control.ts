import type { Provider } from "../../domain/mail/provider.ts"
import type {
  SimulatedEventType,
  SimulatedOutcome,
  SimulatedTarget
} from "../../ports/mail/simulated-mail.ts"
import type { TestMail } from "./outbox.ts"

/** Which requests are meant. */
export interface RequestsMeant {
  /** Only those to this address, on this idempotency key, of this category. */
  readonly for?: { readonly to?: string; readonly key?: string; readonly category?: string } | undefined
  /** Default: the first provider. */
  readonly provider?: Provider | undefined
}

/** What the simulated providers do. */
export interface ProviderControl {
  /** What the provider does with the next request, or with the next ones. It replaces what was said before about the same requests. */
  readonly next: (
    outcome: SimulatedOutcome | ReadonlyArray<SimulatedOutcome>,
    meant?: RequestsMeant
  ) => Promise<void>
  /** What it does with every request from now on. */
  readonly always: (outcome: SimulatedOutcome, meant?: RequestsMeant) => Promise<void>
}

/** What providers report. Each resolves once the report is recorded and, on a server, its event hooks have been asked to take it. */
export interface ProviderReports {
  /** The mail comes back: its recipients are suppressed. */
  readonly bounce: (mail: Pick<TestMail, "id">, options?: AboutRecipients) => Promise<void>
  /** A recipient calls it spam. */
  readonly complain: (mail: Pick<TestMail, "id">, options?: AboutRecipients) => Promise<void>
  /** Any other event. */
  readonly report: (
    mail: Pick<TestMail, "id">,
    event: SimulatedEventType,
    options?: AboutRecipients
  ) => Promise<void>
}

/** The recipients of a report; all by default. */
export interface AboutRecipients {
  readonly recipients?: ReadonlyArray<string> | undefined
}

/** A script, as providers take it. */
interface Script {
  readonly provider: Provider
  readonly outcomes: ReadonlyArray<SimulatedOutcome>
  readonly otherwise?: SimulatedOutcome
  readonly for?: SimulatedTarget
}

export const makeControl = (
  primary: Provider,
  put: (script: Script) => Promise<unknown>
): ProviderControl => {
  const meantBy = ({ for: target, provider = primary }: RequestsMeant) => ({
    provider,
    ...(target === undefined ? {} : { for: target })
  })
  return {
    next: async (outcome, meant = {}) => {
      const outcomes = typeof outcome === "string" ? [outcome] : outcome
      await put({ ...meantBy(meant), outcomes })
    },
    always: async (outcome, meant = {}) => {
      await put({ ...meantBy(meant), outcomes: [], otherwise: outcome })
    }
  }
}

export const makeReports = (
  report: (
    id: string,
    type: SimulatedEventType,
    recipients: ReadonlyArray<string> | undefined
  ) => Promise<void>
): ProviderReports => ({
  bounce: ({ id }, { recipients } = {}) => report(id, "bounced", recipients),
  complain: ({ id }, { recipients } = {}) => report(id, "complained", recipients),
  report: ({ id }, event, { recipients } = {}) => report(id, event, recipients)
})
