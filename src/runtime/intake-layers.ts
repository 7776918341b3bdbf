import { NodeCrypto } from "@effect/platform-node"
import { Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as MailTemplates from "../adapters/parse5/mail-templates.ts"
import { layerInProcess } from "../adapters/postal-mime/process-mail-reader.ts"
import * as PostgresIntake from "../adapters/postgres/intake/intake-store.ts"
import * as ReaderProcess from "../adapters/reader-process/reader-process.ts"
import * as ConvertByEmail from "../domain/intake/convert-by-email.ts"
import type { AuthenticityRules } from "../domain/intake/sender-authenticity.ts"
import { intakeConfig, replyChannel } from "./intake-parts.ts"
import { pipeline } from "./pipeline-layers.ts"
import type { Settings } from "./settings.ts"

/** Whose word about senders is taken. */
export const authenticityRules = ({ embedded, intake }: Settings): AuthenticityRules => ({
  trustedHops: intake.trustedHops.map((hop) => hop.toLowerCase()),
  trustsLoopback: embedded && intake.trustedHops.length === 0
})

/** Convert-by-email, its replies beside it. */
export const convertByEmail = (settings: Settings) =>
  ConvertByEmail.layer.pipe(
    Layer.provideMerge(replyChannel(settings)),
    Layer.provide([
      pipeline,
      intakeConfig(settings, authenticityRules(settings)),
      PostgresIntake.layer,
      Layer.provide(layerInProcess(), ReaderProcess.layer),
      MailTemplates.layer,
      Mac.layerWebCrypto,
      NodeCrypto.layer
    ])
  )
