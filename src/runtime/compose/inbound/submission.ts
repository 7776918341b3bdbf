import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"

import * as SubmissionReader from "../../../adapters/postal-mime/submission-reader.ts"
import * as ReaderProcess from "../../../adapters/reader-process/reader-process.ts"
import { serveSubmission } from "../../../adapters/smtp/submission-server.ts"
import * as Submission from "../../../application/send-queue/submission.ts"
import { background } from "../../process/supervisor.ts"
import type { InboundSettings } from "../../settings/settings.ts"
import { certificate, listen } from "./smtp-listening.ts"

/** SMTP submission, where a port is set. */
export const submissionServer = ({ domains, http: { host }, submission }: InboundSettings) => {
  const { implicitTls, port } = submission
  if (port === undefined) return Layer.empty
  return Layer.unwrap(
    Effect.map(certificate("SUBMISSION", submission), (found) =>
      Layer.provide(
        background(
          "submission",
          listen(
            { what: "SMTP submission", setting: "SUBMISSION_PORT", host, port },
            serveSubmission({ host, port, name: domains.sender, certificate: found, implicitTls })
          )
        ),
        Layer.provide(Submission.layer, [
          Layer.provide(SubmissionReader.layer, ReaderProcess.layer),
          NodeCrypto.layer
        ])
      )
    )
  )
}
