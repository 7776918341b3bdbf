import { ambientCredentials } from "../../adapters/ses/ambient-credentials.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import type { MailSettings } from "../settings/settings.ts"
import { cloudCredentials } from "./mail/mail.ts"

/** By what they are asked with: they outlive those who ask, since their credentials are good for hours. */
const known = new Map<string, CredentialSource>()

const ambient = ({ imdsEndpoint, region, stsEndpoint }: MailSettings["cloud"]): CredentialSource => {
  const asked = { imdsEndpoint, region, stsEndpoint }
  const name = JSON.stringify(asked)
  const source = known.get(name) ?? ambientCredentials({ ...asked, now: Date.now })
  known.set(name, source)
  return source
}

/** The cloud keys of the settings, else what this machine gives to its processes. */
export const nodeCredentials = (settings: MailSettings): CredentialSource =>
  cloudCredentials(settings, ambient(settings.cloud))
