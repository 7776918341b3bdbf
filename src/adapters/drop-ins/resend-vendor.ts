import { Resend as VendorResend } from "resend"

import { notTaken, type ResendFailure } from "./resend-answers.ts"
import type { ResendSettings } from "./resend-settings.ts"

/** Resend's own object, made when it is first needed: what has nothing to do with sending asks Resend, as before. */
export const makeVendor = (settings: ResendSettings): (() => VendorResend) => {
  let made: VendorResend | undefined
  return () => {
    const { key, ...options } = settings.vendor()
    return (made ??= new VendorResend(
      key,
      options.userAgent === undefined
        ? { baseUrl: options.baseUrl }
        : { baseUrl: options.baseUrl, userAgent: options.userAgent }
    ))
  }
}

const refusing =
  (reason: string): Refusing =>
  () =>
    Promise.resolve(notTaken(reason))

const NO_BODIES = "the send log keeps no bodies and no attachments"

type Refusing = () => Promise<ResendFailure>
type Receiving = VendorResend["emails"]["receiving"]

/** Members of Resend's `emails` other than sending and reading. */
export interface OtherEmails {
  readonly share: Refusing
  readonly metrics: Refusing
  readonly attachments: { readonly get: Refusing; readonly list: Refusing }
  readonly receiving: Pick<Receiving, "attachments" | "get" | "list"> & { readonly forward: Refusing }
}

/** Makes them on Resend's own object. */
export const otherEmails = (vendor: () => VendorResend): OtherEmails => ({
  share: refusing(`${NO_BODIES}: share the mail in Resend's dashboard`),
  metrics: refusing(
    "the numbers are in the send log: see the admin page Statistics, or GET /api/admin/email-stats"
  ),
  attachments: { get: refusing(NO_BODIES), list: refusing(NO_BODIES) },
  /** Mail that came in is Resend's; what would go out by its own way is refused. */
  get receiving() {
    const { receiving } = vendor().emails
    return {
      attachments: receiving.attachments,
      get: receiving.get.bind(receiving),
      list: receiving.list.bind(receiving),
      forward: refusing("read the mail with receiving.get, and send it with emails.send")
    }
  }
})

/** Where Resend's API takes mails. */
const SENDS = /^\/emails(?:\/batch)?\/?(?:\?|$)/

const REFUSED = notTaken("send with emails.send or batch.send: this would go out past Postlane")

/** The SDK's own request, but for one that sends. */
export const guarded = <Name extends "post" | "fetchRequest">(
  vendor: VendorResend,
  name: Name
): VendorResend[Name] =>
  new Proxy(vendor[name], {
    apply: (request, _, [path, ...rest]: [string, { readonly method?: string } | undefined]) =>
      SENDS.test(path) && (name === "post" || rest[0]?.method === "POST")
        ? Promise.resolve(REFUSED)
        : Reflect.apply(request, vendor, [path, ...rest])
  })
