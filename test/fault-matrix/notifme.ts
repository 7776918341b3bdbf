import { createRequire } from "node:module"

/** A mail as the custom providers get it; the fields are the caller's own. */
export interface EmailRequest {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

interface Sdk {
  readonly logger: { configure: (options: { readonly silent: boolean }) => void }
  readonly send: (request: {
    readonly email: EmailRequest
  }) => Promise<{ readonly status: "success" | "error" }>
}

interface SdkOptions {
  readonly channels: {
    readonly email: {
      readonly multiProviderStrategy: "fallback"
      readonly providers: ReadonlyArray<{
        readonly type: "custom"
        readonly id: string
        /** The message id, or a rejection. */
        readonly send: (request: EmailRequest) => Promise<string>
      }>
    }
  }
}

/**
 * `notifme-sdk` 1.16, as far as the fault matrix calls it. It is CommonJS with a `default` and without declarations;
 * required, it is the same object under Node and under vitest.
 */
const required = createRequire(import.meta.url)("notifme-sdk") as {
  readonly default: new (options: SdkOptions) => Sdk
}
export const NotifmeSdk = required.default
