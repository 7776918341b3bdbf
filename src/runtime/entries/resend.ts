/** `postlane/resend`: for code that calls Resend's SDK. Only the import changes. */
import type { Resend as VendorResend } from "resend"

import { type ResendOptions, settingsOf } from "../../adapters/drop-ins/resend-settings.ts"
import { guarded, makeVendor, type OtherEmails, otherEmails } from "../../adapters/drop-ins/resend-vendor.ts"
import { makeResend, type ResendDropIn } from "../../adapters/drop-ins/resend.ts"
import { sendEmail, useStores } from "../compose/node-library.ts"

export type { ResendAnswer, ResendError } from "../../adapters/drop-ins/resend-answers.ts"
export type { ResendEmail } from "../../adapters/drop-ins/resend-request.ts"
export type { ResendOptions } from "../../adapters/drop-ins/resend-settings.ts"
export type { ResendBatchOptions, ResendRequestOptions } from "../../adapters/drop-ins/resend.ts"
export type { DropInOptions, Send } from "../../adapters/drop-ins/send.ts"

/**
 * In place of Resend's class. Mails are Postlane's; what has nothing to do with sending is Resend's own, with the same key and
 * address.
 */
export class Resend implements ResendDropIn, Omit<VendorResend, "batch" | "emails"> {
  readonly emails: ResendDropIn["emails"] & OtherEmails
  readonly batch: ResendDropIn["batch"]
  readonly #vendor: () => VendorResend
  constructor(apiKey?: string, options: ResendOptions = {}) {
    const settings = settingsOf(apiKey, options, process.env)
    this.#vendor = makeVendor(settings)
    const { batch, emails } = makeResend({ send: options.send ?? sendEmail, useStores, settings }, options)
    this.emails = Object.assign(otherEmails(this.#vendor), emails)
    this.batch = batch
  }
  get apiKeys(): VendorResend["apiKeys"] {
    return this.#vendor().apiKeys
  }
  get audiences(): VendorResend["audiences"] {
    return this.#vendor().segments
  }
  get automations(): VendorResend["automations"] {
    return this.#vendor().automations
  }
  get broadcasts(): VendorResend["broadcasts"] {
    return this.#vendor().broadcasts
  }
  get contactProperties(): VendorResend["contactProperties"] {
    return this.#vendor().contactProperties
  }
  get contacts(): VendorResend["contacts"] {
    return this.#vendor().contacts
  }
  get domains(): VendorResend["domains"] {
    return this.#vendor().domains
  }
  get events(): VendorResend["events"] {
    return this.#vendor().events
  }
  get inboxes(): VendorResend["inboxes"] {
    return this.#vendor().inboxes
  }
  get logs(): VendorResend["logs"] {
    return this.#vendor().logs
  }
  get oauthGrants(): VendorResend["oauthGrants"] {
    return this.#vendor().oauthGrants
  }
  get segments(): VendorResend["segments"] {
    return this.#vendor().segments
  }
  get suppressions(): VendorResend["suppressions"] {
    return this.#vendor().suppressions
  }
  get templates(): VendorResend["templates"] {
    return this.#vendor().templates
  }
  get topics(): VendorResend["topics"] {
    return this.#vendor().topics
  }
  get usage(): VendorResend["usage"] {
    return this.#vendor().usage
  }
  get webhooks(): VendorResend["webhooks"] {
    return this.#vendor().webhooks
  }
  get key(): VendorResend["key"] {
    return this.#vendor().key
  }
  get baseUrl(): VendorResend["baseUrl"] {
    return this.#vendor().baseUrl
  }
  get userAgent(): VendorResend["userAgent"] {
    return this.#vendor().userAgent
  }
  get get(): VendorResend["get"] {
    const vendor = this.#vendor()
    return vendor.get.bind(vendor)
  }
  get put(): VendorResend["put"] {
    const vendor = this.#vendor()
    return vendor.put.bind(vendor)
  }
  get patch(): VendorResend["patch"] {
    const vendor = this.#vendor()
    return vendor.patch.bind(vendor)
  }
  get delete(): VendorResend["delete"] {
    const vendor = this.#vendor()
    return vendor.delete.bind(vendor)
  }
  /** Asks Resend; what would send a mail past Postlane is refused. */
  get post(): VendorResend["post"] {
    return guarded(this.#vendor(), "post")
  }
  get fetchRequest(): VendorResend["fetchRequest"] {
    return guarded(this.#vendor(), "fetchRequest")
  }
}
