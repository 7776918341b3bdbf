import type { MailTemplate, MailTemplateKind } from "../../../domain/mail/template.ts"
import type { MailContent } from "../mail-content.ts"
import type { Values } from "./values.ts"

/** Says what one kind of mail says. */
export type Writer<K extends MailTemplateKind> = (
  data: Extract<MailTemplate, { readonly kind: K }>,
  values: Values
) => MailContent
